internal import PropertyLists
internal import Queries

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A key with the type of its value and a default.
///
/// Modifiers add the rest of the declaration:
///
///     Setting("keep", default: 7).range(1...365).flag("keep", "k").environment("BACKUP_KEEP").title("Copies to keep")
///
/// The choices of a `CaseIterable` type are its cases. For an optional type, nil means no value.
public struct Setting<Value: Codable & Sendable>: Sendable {
    /// The key of the setting.
    public let key: String
    private let defaults: Default
    /// The declaration, if it has more than key and default. Stored only then, because most uses of a setting never
    /// need it.
    private var declared: Declared?

    /// Declares a setting, whose type is that of its default.
    public init(_ key: String, default defaultValue: Value) {
        self.key = key
        defaults = .value(defaultValue)
    }

    /// Declares a setting whose default is computed each time it is needed.
    ///
    /// Other programs do not know this default, because the schema does not contain it.
    public init(_ key: String, computed default: @escaping @Sendable () -> Value) {
        self.key = key
        defaults = .computed(`default`)
    }

    /// Declares a setting that has no value unless a layer provides one.
    public init(_ key: String) where Value: ExpressibleByNilLiteral { self.init(key, default: nil) }

    private enum Default: Sendable {
        case value(Value)
        case computed(@Sendable () -> Value)
    }

    /// The value that is used if no layer provides one.
    public var defaultValue: Value {
        switch defaults {
        case .value(let value): value
        case .computed(let compute): compute()
        }
    }

    /// Returns the setting with a change to its declaration.
    func declaring(_ step: @escaping @Sendable (inout SettingDeclaration) -> Void) -> Setting {
        var (result, declaration) = (self, declaration)
        step(&declaration)
        result.declared = Declared(declaration)
        return result
    }

    /// The complete declaration.
    package var declaration: SettingDeclaration { declared?.declaration ?? plainDeclaration }

    /// The declaration, if it has more than type and default.
    package var ownDeclaration: SettingDeclaration? { declared?.declaration }

    private var plainDeclaration: SettingDeclaration {
        var declaration = SettingDeclaration(key, ValueRule(of: Value.self))
        // A computed default is that of the program, and not of its schema.
        guard case .value(let defaultValue) = defaults else { return declaration }
        if let value = try? PropertyList(encoding: defaultValue), !defaultValue.isNothing {
            declaration.defaultValue = declaration.rule.adapted(value)
        }
        return declaration
    }
}

extension Setting: Hashable {
    public static func == (left: Setting, right: Setting) -> Bool {
        left.key.hasSameBytes(as: right.key) && left.declaration == right.declaration
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// Stores a declaration by reference, so that a setting stays small.
private final class Declared: Sendable {
    let declaration: SettingDeclaration

    init(_ declaration: SettingDeclaration) { self.declaration = declaration }
}

extension Encodable {
    /// Whether this is an optional without a value.
    fileprivate var isNothing: Bool { (self as? any AnyOptional)?.isNothing ?? false }
}

// MARK: Descriptions

extension Setting {
    /// Sets a short description for help and forms.
    public func title(_ title: String) -> Setting { declaring { $0.title = title } }
    /// Sets a longer description, in sentences.
    public func summary(_ summary: String) -> Setting { declaring { $0.summary = summary } }
    /// Sets the heading under which help and forms show the setting.
    public func group(_ group: String) -> Setting { declaring { $0.group = group } }
    /// Sets the name of the value in help, such as N in `--keep N`.
    public func placeholder(_ placeholder: String) -> Setting { declaring { $0.placeholder = placeholder } }
    /// Sets the unit of a number.
    public func unit(_ unit: String) -> Setting { declaring { $0.unit = unit } }
    /// Excludes the setting from help and completions.
    public func hidden() -> Setting { declaring { $0.isHidden = true } }
    /// Marks the setting as deprecated, with an optional reason.
    public func deprecated(_ reason: String = "") -> Setting { declaring { $0.deprecated = reason } }
}

// MARK: Sources and storage

extension Setting {
    /// Adds flags: a single character follows one dash, a longer name two.
    public func flag(_ names: String...) -> Setting {
        declaring {
            for name in names {
                if name.isShortFlag { $0.shorts.append(name) } else { $0.flags.append(name) }
            }
        }
    }

    /// Refuses a command line that gives the setting twice.
    public func once() -> Setting { declaring { $0.isOnce = true } }

    /// Adds a flag that takes no value and sets a fixed one: `.flag("9", sets: 9)` declares `-9`.
    public func flag(_ name: String, sets value: Value) -> Setting {
        guard let value = try? PropertyList(encoding: value) else { return self }
        return declaring {
            $0.flagValues.append(.init(flag: (name.isShortFlag ? "-" : "--") + name, value: $0.rule.adapted(value)))
        }
    }

    /// Makes the value of the flag optional. `value` is used if the flag has none. A value must then be given after an
    /// equals sign: `--color=never`.
    public func implied(_ value: Value) -> Setting {
        guard let value = try? PropertyList(encoding: value) else { return self }
        return declaring { ($0.isValueOptional, $0.implied) = (true, $0.rule.adapted(value)) }
    }

    /// Takes the word after the flag as its value even if it begins with a dash.
    public func allowsDash() -> Setting { declaring { $0.allowsDash = true } }
    /// Takes the value from the operand at a position, counted from 1. An array takes all operands that no other
    /// position takes.
    public func positional(_ position: Int = 1) -> Setting { declaring { $0.positional = position } }
    /// Adds environment variables that set the value.
    public func environment(_ variables: String...) -> Setting { declaring { $0.environment += variables } }
    /// Marks the value as a secret, which is kept out of listings, messages, mirrors and command lines.
    public func sensitive() -> Setting { declaring { $0.isSensitive = true } }
    /// Sets whether mirrors copy the value to other hosts.
    public func mirrored(_ isMirrored: Bool) -> Setting { declaring { $0.isMirrored = isMirrored } }
    /// Excludes the value from storage.
    public func transient() -> Setting { declaring { $0.isTransient = true } }
    /// Sets how a mirror combines values that hosts write without having seen each other's.
    ///
    ///     static let launches = Setting("launches", default: 0).merges(.counter)
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - identity: For ``MergeRule/list``, the key by which the dictionaries are matched.
    public func merges(_ rule: MergeRule, identity: String? = nil) -> Setting {
        declaring { ($0.merge, $0.identity) = (rule, identity) }
    }
    /// Stores the value for this machine only.
    public func byHost() -> Setting { declaring { $0.isByHost = true } }
    /// Makes the value the path of a file whose values precede the stored ones, as for `--config FILE`.
    public func configuration() -> Setting { declaring { $0.takeConfiguration() } }
    /// Adds former keys of the setting.
    public func renamed(from keys: String...) -> Setting { declaring { $0.renamedFrom += keys } }
}

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
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting
    where Bounds.Bound == Value, Value: SettingNumber {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    /// Restricts values to a range; nil is allowed too.
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting
    where Value == Bounds.Bound?, Bounds.Bound: SettingNumber {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    /// Restricts the elements to a range.
    public func range<Bounds: SettingBounds>(_ bounds: Bounds) -> Setting
    where Value == [Bounds.Bound], Bounds.Bound: SettingNumber {
        declaring(minimum: bounds.lowerEnd, maximum: bounds.upperEnd)
    }

    private func declaring<Bound: Encodable>(minimum: Bound?, maximum: Bound?) -> Setting {
        let least = minimum.flatMap { try? PropertyList(encoding: $0) }
        let most = maximum.flatMap { try? PropertyList(encoding: $0) }
        return declaring { $0.rule.editInnermost { ($0.minimum, $0.maximum) = (least, most) } }
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

    /// Sets the sentence about a value, or an element of it, that breaks a rule, such as `must be an even number`.
    public func message(_ text: String) -> Setting { declaring { $0.rule.editInnermost { $0.message = text } } }

    /// Makes the value required. The default is then used only if a program reads the setting without a value.
    public func required() -> Setting {
        declaring {
            $0.isRequired = true
            $0.defaultValue = nil
        }
    }

    /// Adds the keys of settings that must not be given together with this one.
    public func conflicts(with keys: String...) -> Setting { declaring { $0.conflicts += keys } }
    /// Adds the keys of settings that must be given together with this one.
    public func requires(_ keys: String...) -> Setting { declaring { $0.requires += keys } }
    /// Adds the keys of settings that form a group with this one. Exactly one setting of the group must be given.
    public func exactlyOne(of keys: String...) -> Setting { declaring { $0[.exactlyOne] += keys } }
    /// Adds the keys of settings that form a group with this one. At most one setting of the group can be given.
    public func atMostOne(of keys: String...) -> Setting { declaring { $0[.atMostOne] += keys } }
    /// Adds the keys of settings that form a group with this one. At least one setting of the group must be given.
    public func atLeastOne(of keys: String...) -> Setting { declaring { $0[.atLeastOne] += keys } }
}

// MARK: Modifiers for some types of values

/// A type whose values are text, so that they have a length and can match a pattern: strings and URLs, and optionals
/// and arrays of them. A program's own type that is stored as text can adopt it.
public protocol SettingText {}

/// A type whose values are numbers or dates, so that they can be bounded. A program's own type can adopt it.
public protocol SettingNumber {}

/// A type whose values are stored as an array: arrays, sets and optionals of them. A program's own type can adopt it.
public protocol SettingList {}

/// A type whose values are stored as a dictionary, and optionals of it. A program's own type can adopt it.
public protocol SettingDictionary {}

extension String: SettingText {}
extension URL: SettingText {}
extension Optional: SettingText where Wrapped: SettingText {}
extension Array: SettingText where Element: SettingText {}

extension Int: SettingNumber {}
extension Int8: SettingNumber {}
extension Int16: SettingNumber {}
extension Int32: SettingNumber {}
extension Int64: SettingNumber {}
extension UInt: SettingNumber {}
extension UInt8: SettingNumber {}
extension UInt16: SettingNumber {}
extension UInt32: SettingNumber {}
extension UInt64: SettingNumber {}
extension Int128: SettingNumber {}
extension UInt128: SettingNumber {}
extension Double: SettingNumber {}
extension Float: SettingNumber {}
extension Date: SettingNumber {}
extension Decimal: SettingNumber {}
extension Duration: SettingNumber {}

extension Array: SettingList {}
extension Set: SettingList {}
extension Optional: SettingList where Wrapped: SettingList {}

extension Dictionary: SettingDictionary {}
extension Optional: SettingDictionary where Wrapped: SettingDictionary {}

extension Setting {
    fileprivate func withLength(_ bounds: some SettingBounds<Int>) -> Setting {
        let (least, most) = (bounds.lowerEnd, bounds.upperEnd)
        return declaring { $0.rule.editInnermost { ($0.minimumLength, $0.maximumLength) = (least, most) } }
    }

    fileprivate func withCount(_ bounds: some SettingBounds<Int>) -> Setting {
        let (least, most) = (bounds.lowerEnd, bounds.upperEnd)
        return declaring { ($0.rule.minimumCount, $0.rule.maximumCount) = (least, most) }
    }

    fileprivate func repeating() -> Setting { declaring { $0.repeats = true } }
    fileprivate func withNegation() -> Setting { declaring { $0.isNegatable = true } }
}

extension Setting where Value: SettingText {
    /// Restricts the number of characters of a string, or of each string of an array.
    public func length(_ bounds: some SettingBounds<Int>) -> Setting { withLength(bounds) }

    /// Sets a pattern that must match the whole string, or each string of an array.
    public func pattern(_ pattern: String) -> Setting {
        declaring { $0.rule.editInnermost { $0.pattern = Pattern(pattern) } }
    }
}

extension Setting where Value == Data {
    /// Restricts the number of bytes.
    public func length(_ bounds: some SettingBounds<Int>) -> Setting { withLength(bounds) }
}

extension Setting where Value == Data? {
    /// Restricts the number of bytes.
    public func length(_ bounds: some SettingBounds<Int>) -> Setting { withLength(bounds) }
}

extension Setting where Value == Bool {
    /// Adds a `--no-…` form of the flags.
    public func negatable() -> Setting { withNegation() }
}

extension Setting where Value == Bool? {
    /// Adds a `--no-…` form of the flags.
    public func negatable() -> Setting { withNegation() }
}

extension Setting where Value: FixedWidthInteger {
    /// Allows the flag to be repeated: each use adds one.
    public func repeats() -> Setting { repeating() }
}

extension Setting where Value: SettingList {
    /// Allows the flag to be repeated: each use appends an element.
    public func repeats() -> Setting { repeating() }
    /// Restricts the number of elements.
    public func count(_ bounds: some SettingBounds<Int>) -> Setting { withCount(bounds) }
    /// Disallows duplicate elements.
    public func unique() -> Setting { declaring { $0.rule.isUnique = true } }
    /// Sets the text between the elements of an array that is given as one word.
    public func separator(_ separator: String) -> Setting { declaring { $0.rule.separator = separator } }

    /// Takes all arguments after the other operands, including flags.
    ///
    /// - Parameter passesUnknown: Whether undeclared flags are taken too, wherever they are. Declared flags are then
    ///   recognized among the arguments.
    public func rest(passesUnknown: Bool = false) -> Setting {
        declaring { ($0.takesRest, $0.passesUnknown) = (true, passesUnknown) }
    }
}

extension Setting where Value: SettingDictionary {
    /// Restricts the number of entries.
    public func count(_ bounds: some SettingBounds<Int>) -> Setting { withCount(bounds) }
    /// Allows the flag to be repeated: each use sets an entry, as `--limit ada=5`.
    public func repeats() -> Setting { repeating() }
    /// Merges concurrent changes to different entries of a dictionary.
    public func merges() -> Setting { merges(.entries) }
}

extension ValueRule {
    /// Edits the rule of the elements of an array, or else this rule.
    fileprivate mutating func editInnermost(_ edit: (inout ValueRule) -> Void) {
        guard type == .array, var inner = element else { return edit(&self) }
        edit(&inner)
        contents = .each(inner)
    }
}
