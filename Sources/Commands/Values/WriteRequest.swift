package import PropertyLists

/// What `write` is asked to do with the entry that it names.
package enum WriteRequest: Hashable, Sendable {
    case value(PropertyList)
    /// Text without a type: a schema may know better than `PropertyList(bare:)` what it is.
    case bare(String)
    /// Elements for the end of the array that is there.
    case append([PropertyList])
    /// Entries for the dictionary that is there.
    case merge(PropertyList.Dictionary)
}

extension WriteRequest {
    /// The value that comes of a request where `old` stood under what the command line called `key`.
    package func value(replacing old: PropertyList?, key: String) throws(ValueFailure) -> PropertyList {
        switch self {
        case .value(let value): return value
        case .bare(let text): return try PropertyList(bare: text)
        case .append(let elements):
            guard let old else { return .array(elements) }
            guard case .array(let former) = old else { throw ValueFailure(.notAnArray(key: key)) }
            return .array(former + elements)
        case .merge(let entries):
            guard let old else { return .dictionary(entries) }
            guard case .dictionary(var merged) = old else { throw ValueFailure(.notADictionary(key: key)) }
            for entry in entries { merged[entry.key] = entry.value }
            return .dictionary(merged)
        }
    }

    /// What is to be said where a bare word changes the type of what stood there.
    package func notice(replacing old: PropertyList?, with new: PropertyList, key: String) -> String? {
        guard case .bare = self, let old, old.kind != new.kind else { return nil }
        return "\(key): was \(old.kind.rawValue), is now \(new.kind.rawValue)"
    }
}

extension PropertyList {
    /// The value of a word without a type: a string, unless a character in it makes it the text of a property list.
    package init(bare text: String) throws(ValueFailure) {
        guard text.utf8.contains(where: { "\"()[]{}<>".utf8.contains($0) }) else {
            self = .string(text)
            return
        }
        for format in [Format.openstep, .xml] {
            if let value = try? PropertyList(parsing: text, as: format) {
                self = value
                return
            }
        }
        throw ValueFailure(.notParsed(text))
    }
}

extension PropertyList.Dictionary {
    /// The dictionary that is to replace a whole domain.
    package init(replacement text: String) throws(ValueFailure) {
        guard case .dictionary(let dictionary) = try PropertyList(bare: text) else {
            throw ValueFailure(.notAReplacement)
        }
        self = dictionary
    }
}
