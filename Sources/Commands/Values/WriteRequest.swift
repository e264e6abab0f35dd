package import PropertyLists
package import SettingsSchema

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

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
    ///
    /// - Parameters:
    ///   - rule: What a schema declares for the place. A word without a type is read as it says; whether the value
    ///   keeps it is another question.
    ///   - now: What the date `now` stands for then.
    package func value(
        replacing old: PropertyList?, key: String, rule: ValueRule? = nil, now: Date? = nil
    ) throws(ValueFailure) -> PropertyList {
        switch self {
        case .value(let value):
            // Words inside a list or a dictionary need not say their types either.
            guard value.arrayValue != nil || value.dictionaryValue != nil else { return value }
            return rule?.adapted(value, now: now) ?? value
        case .bare(let text):
            guard let rule else { return try PropertyList(bare: text) }
            return (try? rule.value(ofText: text, now: now)) ?? .string(text)
        case .append(let elements):
            let added = rule?.adapted(.array(elements), now: now).arrayValue ?? elements
            guard let old else { return .array(added) }
            guard case .array(let former) = old else { throw ValueFailure(.notAnArray(key: key)) }
            return .array(former + added)
        case .merge(let entries):
            let added = rule?.adapted(.dictionary(entries), now: now).dictionaryValue ?? entries
            guard let old else { return .dictionary(added) }
            guard case .dictionary(var merged) = old else { throw ValueFailure(.notADictionary(key: key)) }
            for entry in added { merged[entry.key] = entry.value }
            return .dictionary(merged)
        }
    }

    /// What is to be said where a bare word changes the type of what stood there.
    package func notice(replacing old: PropertyList?, with new: PropertyList?, key: String) -> String? {
        guard case .bare = self, let old, let new, old.kind != new.kind else { return nil }
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
