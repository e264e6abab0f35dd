internal import PropertyLists

/// A range of which one end may be open: `1...365`, `1...`, `...365`.
public protocol SettingBounds<Bound> {
    /// What lies within the range.
    associatedtype Bound: Comparable & Codable
    /// The least value that is allowed; nil for an open end.
    var lowerEnd: Bound? { get }
    /// The greatest value that is allowed; nil for an open end.
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

// MARK: What a value must be

extension Setting {
    /// Allows only values within the bounds.
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting where Bounds.Bound == Value {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    /// Allows only values within the bounds, or none.
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting where Value == Bounds.Bound? {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    private func declaring<Bound: Encodable>(minimum: Bound?, maximum: Bound?) -> Setting {
        let least = minimum.flatMap { try? PropertyList(encoding: $0) }
        let most = maximum.flatMap { try? PropertyList(encoding: $0) }
        return declaring { ($0.rule.minimum, $0.rule.maximum) = (least, most) }
    }

    /// How many characters a text, or bytes data, may have.
    public func length(_ bounds: some SettingBounds<Int>) -> Setting {
        let (least, most) = (bounds.lowerEnd, bounds.upperEnd)
        return declaring { ($0.rule.minimumLength, $0.rule.maximumLength) = (least, most) }
    }

    /// How many elements or entries there may be.
    public func count(_ bounds: some SettingBounds<Int>) -> Setting {
        let (least, most) = (bounds.lowerEnd, bounds.upperEnd)
        return declaring { ($0.rule.minimumCount, $0.rule.maximumCount) = (least, most) }
    }

    /// What the whole of a text must match; of an array of texts, each of them.
    public func pattern(_ pattern: String) -> Setting {
        declaring { $0.rule.editInnermost { $0.pattern = Pattern(pattern) } }
    }

    /// What the text, or each of an array, stands for; of a number, in which units it may be given.
    public func kind(_ kind: ValueKind) -> Setting {
        declaring { $0.rule.editInnermost { $0.kind = kind } }
    }

    /// Allows only these values.
    public func choices(_ choices: [Value]) -> Setting {
        declaring { $0.rule.choices = choices.compactMap { try? PropertyList(encoding: $0) } }
    }

    /// What each element may be.
    public func choices<Element: Encodable>(_ choices: [Element]) -> Setting where Value == [Element] {
        let values = choices.compactMap { try? PropertyList(encoding: $0) }
        return declaring { $0.rule.editInnermost { $0.choices = values } }
    }

    /// Refuses an element that stands twice.
    public func unique() -> Setting { declaring { $0.rule.isUnique = true } }

    /// A value is needed, and the default is only what a program without one would see.
    public func required() -> Setting {
        declaring {
            $0.isRequired = true
            $0.defaultValue = nil
        }
    }

    /// Names settings that may not be given with it.
    public func conflicts(with keys: String...) -> Setting { declaring { $0.conflicts += keys } }
    /// Names settings that must be given with it.
    public func requires(_ keys: String...) -> Setting { declaring { $0.requires += keys } }
    /// Names settings of which, with it, just one must be given.
    public func exactlyOne(of keys: String...) -> Setting { declaring { $0.exactlyOneOf += keys } }
}

extension ValueRule {
    /// Changes the rule of the elements, where this is an array's.
    fileprivate mutating func editInnermost(_ edit: (inout ValueRule) -> Void) {
        guard type == .array, var inner = element else { return edit(&self) }
        edit(&inner)
        contents = .each(inner)
    }
}
