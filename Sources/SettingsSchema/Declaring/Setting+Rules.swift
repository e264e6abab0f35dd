internal import PropertyLists
internal import Queries

/// A range that may be open at one end: `1...365`, `1...`, `...365`.
public protocol SettingBounds<Bound> {
    /// The type of the bounds.
    associatedtype Bound: Comparable & Codable
    /// The smallest allowed value; nil for an open end.
    var lowerEnd: Bound? { get }
    /// The largest allowed value; nil for an open end.
    var upperEnd: Bound? { get }
}

extension ClosedRange: SettingBounds where Bound: Codable {
    public var lowerEnd: Bound? { lowerBound }
    public var upperEnd: Bound? { upperBound }
}

extension PartialRangeFrom: SettingBounds where Bound: Codable {
    public var lowerEnd: Bound? { lowerBound }
    public var upperEnd: Bound? { nil }
}

extension PartialRangeThrough: SettingBounds where Bound: Codable {
    public var lowerEnd: Bound? { nil }
    public var upperEnd: Bound? { upperBound }
}

// MARK: Rules for values

extension Setting {
    /// Restricts values to a range.
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting where Bounds.Bound == Value {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    /// Restricts values to a range; nil is allowed too.
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting where Value == Bounds.Bound? {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    private func declaring<Bound: Encodable>(minimum: Bound?, maximum: Bound?) -> Setting {
        let least = minimum.flatMap { try? PropertyList(encoding: $0) }
        let most = maximum.flatMap { try? PropertyList(encoding: $0) }
        return declaring { ($0.rule.minimum, $0.rule.maximum) = (least, most) }
    }

    /// Restricts the number of characters of a string, or of bytes of data.
    public func length(_ bounds: some SettingBounds<Int>) -> Setting {
        let (least, most) = (bounds.lowerEnd, bounds.upperEnd)
        return declaring { ($0.rule.minimumLength, $0.rule.maximumLength) = (least, most) }
    }

    /// Restricts the number of elements or entries.
    public func count(_ bounds: some SettingBounds<Int>) -> Setting {
        let (least, most) = (bounds.lowerEnd, bounds.upperEnd)
        return declaring { ($0.rule.minimumCount, $0.rule.maximumCount) = (least, most) }
    }

    /// Sets a pattern that must match the whole string, or each string of an array.
    public func pattern(_ pattern: String) -> Setting {
        declaring { $0.rule.editInnermost { $0.pattern = Pattern(pattern) } }
    }

    /// Sets the kind of a string or of each string of an array, or the unit notation of a number.
    public func kind(_ kind: ValueKind) -> Setting {
        declaring { $0.rule.editInnermost { $0.kind = kind } }
    }

    /// Restricts values to a list of choices.
    public func choices(_ choices: [Value]) -> Setting {
        declaring { $0.rule.choices = choices.compactMap { try? PropertyList(encoding: $0) } }
    }

    /// Restricts elements to a list of choices.
    public func choices<Element: Encodable>(_ choices: [Element]) -> Setting where Value == [Element] {
        let values = choices.compactMap { try? PropertyList(encoding: $0) }
        return declaring { $0.rule.editInnermost { $0.choices = values } }
    }

    /// Sets the names of the choices, in the same order, which forms show instead of the values.
    public func choiceTitles(_ titles: String...) -> Setting {
        declaring { $0.rule.editInnermost { $0.choiceTitles = titles } }
    }

    /// Disallows duplicate elements.
    public func unique() -> Setting { declaring { $0.rule.isUnique = true } }

    /// Makes the value required. The default is used only if a program reads the setting when it has no value.
    public func required() -> Setting {
        declaring {
            $0.isRequired = true
            $0.defaultValue = nil
        }
    }

    /// Adds settings that must not be given together with this one.
    public func conflicts(with keys: String...) -> Setting { declaring { $0.conflicts += keys } }
    /// Adds settings that must be given together with this one.
    public func requires(_ keys: String...) -> Setting { declaring { $0.requires += keys } }
    /// Adds settings that form a group with this one, of which exactly one must be given.
    public func exactlyOne(of keys: String...) -> Setting { declaring { $0.exactlyOneOf += keys } }
}

extension ValueRule {
    /// Edits the rule of the elements of an array, or else this rule.
    fileprivate mutating func editInnermost(_ edit: (inout ValueRule) -> Void) {
        guard type == .array, var inner = element else { return edit(&self) }
        edit(&inner)
        contents = .each(inner)
    }
}
