package import PropertyLists
internal import Queries

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ValueRule {
    /// Returns the problems of a value and its entries, each with its path.
    package func problems(
        with value: PropertyList, at path: EntryPath = EntryPath(), isSecret: Bool = false
    ) -> [Schema.Problem] {
        guard hasType(of: value) else {
            return [
                problem(
                    .wrongType(expected: kind?.quantity != nil ? expectation : type.noun), value, path,
                    isSecret)
            ]
        }
        // One sentence for all reasons is enough.
        let own = reasons(against: value).prefix(message == nil ? .max : 1).map { problem($0, value, path, isSecret) }
        let problems = own + problemsInside(value, at: path, isSecret)
        guard problems.isEmpty, let found = swiftType?.problem(with: value, isSecret: isSecret) else { return problems }
        let place = EntryPath(path.components + found.path.components)
        guard let entry = value[found.path] else { return [Schema.Problem(path: place, reason: found.reason)] }
        return [problem(found.reason, entry, place, isSecret)]
    }

    private func problem(
        _ reason: Schema.Problem.Reason, _ value: PropertyList, _ path: EntryPath, _ isSecret: Bool
    ) -> Schema.Problem {
        Schema.Problem(path: path, reason: reported(reason), value: isSecret ? mask : shownText(of: value))
    }

    private func hasType(of value: PropertyList) -> Bool {
        type == .any || value.kind.rawValue == type.rawValue || (type == .real && value.kind == .integer)
    }

    /// Returns the rules that the value itself breaks.
    private func reasons(against value: PropertyList) -> [Schema.Problem.Reason] {
        var reasons: [Schema.Problem.Reason] = []
        let isBelow = { [swiftType] (left: PropertyList, right: PropertyList) in
            swiftType?.isBelow(left, right) ?? left.isBelow(right)
        }
        if let minimum, isBelow(value, minimum) || maximum.map({ isBelow($0, value) }) ?? false {
            reasons.append(.outsideRange(minimum: text(of: minimum), maximum: maximum.map(text)))
        } else if let maximum, isBelow(maximum, value) {
            reasons.append(.outsideRange(minimum: nil, maximum: text(of: maximum)))
        }
        // Sizes and durations have a default minimum of 0.
        if minimum == nil, kind?.quantity != nil, value.isBelow(.integer(0)) {
            reasons.append(.outsideRange(minimum: text(of: .integer(0)), maximum: nil))
        }
        if value.isNaN, minimum != nil || maximum != nil {
            reasons.append(.outsideRange(minimum: minimum.map(text), maximum: maximum.map(text)))
        }
        if let length = value.length, !(minimumLength ?? 0 <= length && length <= maximumLength ?? .max) {
            reasons.append(.wrongLength(minimum: minimumLength, maximum: maximumLength))
        }
        if let count = value.childCount, !(minimumCount ?? 0 <= count && count <= maximumCount ?? .max) {
            reasons.append(.wrongCount(minimum: minimumCount, maximum: maximumCount))
        }
        if !choices.isEmpty, !choices.contains(value) {
            let names = choices.map(\.plainText)
            // No suggestion for numbers: a similar number is not a misspelling.
            let nearest = type == .string ? names.nearest(to: value.plainText) : nil
            reasons.append(.notAChoice(names, nearest: nearest))
        }
        if case .string(let text) = value { reasons += self.reasons(againstText: text) }
        if isUnique, case .array(let elements) = value, Set(elements).count < elements.count {
            reasons.append(.repeatedElement)
        }
        return reasons
    }

    private func reasons(againstText text: String) -> [Schema.Problem.Reason] {
        var reasons: [Schema.Problem.Reason] = []
        if let pattern, !pattern.matches(text) { reasons.append(.mismatch(pattern: pattern.text)) }
        if let kind, !kind.facts.admits(text) { reasons.append(.notOfKind(kind.noun)) }
        return reasons
    }

    private func problemsInside(_ value: PropertyList, at path: EntryPath, _ isSecret: Bool) -> [Schema.Problem] {
        switch (contents, value) {
        case (.each(let rule), .array(let elements)):
            return elements.enumerated().flatMap { index, element in
                rule.problems(with: element, at: path.appending(.init(index)), isSecret: isSecret)
            }
        case (.each(let rule), .dictionary(let entries)):
            return entries.flatMap {
                rule.problems(with: $0.value, at: path.appending(.init($0.key)), isSecret: isSecret)
            }
        case (.entries(let declared), .dictionary(let entries)):
            return declared.problems(with: entries, at: path, isSecret: isSecret, in: scope)
        default: return []
        }
    }
}

extension [SettingDeclaration] {
    /// Returns the problems of a dictionary whose entries are declared individually.
    fileprivate func problems(
        with entries: PropertyList.Dictionary, at path: EntryPath, isSecret: Bool, in scope: ValueRule.Scope?
    ) -> [Schema.Problem] {
        let unknown = entries.filter { scope != .open && declaration(of: $0.key) == nil }.map { entry in
            let nearest = map(\.key).nearest(to: entry.key)
            return Schema.Problem(path: path.appending(.init(entry.key)), reason: .unknownKey(nearest: nearest))
        }
        return flatMap { row -> [Schema.Problem] in
            let place = path.appending(.init(row.key))
            guard let value = entries[row.key] else {
                return row.requiresValue && scope == nil ? [Schema.Problem(path: place, reason: .missing)] : []
            }
            return row.rule.problems(with: value, at: place, isSecret: isSecret || row.isSensitive)
        } + unknown
    }
}

extension EntryPath {
    package func appending(_ component: Component) -> EntryPath { EntryPath(components + [component]) }
}

extension PropertyList {
    /// Returns whether this number or date is less than another of its type; false for other types.
    fileprivate func isBelow(_ other: PropertyList) -> Bool {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): a < b
        case (.date(let a), .date(let b)): a < b
        default:
            if let a = asDouble, let b = other.asDouble { a < b } else { false }
        }
    }

    private var asDouble: Double? { realValue ?? integerValue?.asDouble }

    fileprivate var isNaN: Bool { realValue?.isNaN ?? false }

    /// The number of Unicode scalars of a string, or of bytes of data.
    fileprivate var length: Int? { stringValue?.unicodeScalars.count ?? dataValue?.count }

    fileprivate var childCount: Int? { arrayValue?.count ?? dictionaryValue?.count }
}
