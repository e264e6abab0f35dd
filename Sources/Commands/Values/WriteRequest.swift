package import PropertyLists
package import SettingsSchema

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The change that `write` makes to an entry.
package enum WriteRequest: Hashable, Sendable {
    case value(PropertyList)
    /// A word without a type. A schema can determine its type more precisely than `PropertyList(bare:)`.
    case bare(String)
    /// Elements to append to the existing array.
    case append([PropertyList])
    /// Entries to merge into the existing dictionary.
    case merge(PropertyList.Dictionary)
}

extension WriteRequest {
    /// Returns the new value.
    ///
    /// - Parameters:
    ///   - old: The existing value.
    ///   - key: The key as given on the command line, for messages.
    ///   - rule: The rule of the schema, used to parse words without a type. The value is not checked against it.
    ///   - now: The date that `now` denotes.
    package func value(
        replacing old: PropertyList?, key: String, rule: ValueRule? = nil, now: Date? = nil
    ) throws(ValueFailure) -> PropertyList {
        switch self {
        case .value(let value):
            // Elements and entries without a type are converted too.
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

    /// Returns a notice if a word without a type changes the type of the existing value.
    package func notice(replacing old: PropertyList?, with new: PropertyList?, key: String) -> String? {
        guard case .bare = self, let old, let new, old.kind != new.kind else { return nil }
        return "\(key): was \(old.kind.rawValue), is now \(new.kind.rawValue)"
    }
}

extension PropertyList {
    /// Parses a word without a type: a string, unless it contains a special character of property lists.
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
    /// Parses the replacement for a whole domain.
    package init(replacement text: String) throws(ValueFailure) {
        guard case .dictionary(let dictionary) = try PropertyList(bare: text) else {
            throw ValueFailure(.notAReplacement)
        }
        self = dictionary
    }
}
