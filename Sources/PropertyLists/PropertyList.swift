#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A property list, or a value inside one, independent of the format of a file.
///
/// Values of different kinds are never equal: `.boolean(true)`, `.integer(1)` and `.real(1)` are different values.
/// Text is compared byte by byte, so that canonically equivalent strings can be different values.
public enum PropertyList: Sendable {
    /// A string.
    case string(String)
    /// An integer from −2⁶³ to 2⁶⁴−1.
    case integer(Integer)
    /// A floating-point number.
    case real(Double)
    /// A Boolean.
    case boolean(Bool)
    /// A date.
    case date(Date)
    /// Data.
    case data(Data)
    /// An array.
    case array([PropertyList])
    /// A dictionary, which keeps the order of its keys.
    case dictionary(Dictionary)
    /// A reference inside a keyed archive. Binary files have a type for it. XML uses `{CF$UID = n}`.
    case uid(UInt64)
    /// A null in JSON or a binary file. Other formats, and domains, do not support it.
    case null
}

extension PropertyList {
    /// The kinds of value, with the names that `defaults read-type` prints.
    public enum Kind: String, Sendable, CaseIterable {
        /// The kind of the case of `PropertyList` with this name.
        case string, integer, real, boolean, date, data, array, dictionary, uid, null
    }

    /// Whether the value is or contains a null.
    package var hasNulls: Bool { pathToNull != nil }

    /// The path to the first null.
    package var pathToNull: EntryPath? {
        switch self {
        case .null: return EntryPath()
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let path = element.pathToNull { return EntryPath([EntryPath.Component(index)] + path.components) }
            }
        case .dictionary(let entries):
            for entry in entries {
                if let path = entry.value.pathToNull {
                    return EntryPath([EntryPath.Component(entry.key)] + path.components)
                }
            }
        default: break
        }
        return nil
    }

    /// The value without dictionary entries that are null.
    package var withoutNullEntries: PropertyList {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutNullEntries))
        case .dictionary(let entries):
            .dictionary(
                Dictionary(entries.filter { $0.value != .null }.map { ($0.key, $0.value.withoutNullEntries) }))
        default: self
        }
    }

    /// The kind of the value.
    public var kind: Kind {
        switch self {
        case .string: .string
        case .integer: .integer
        case .real: .real
        case .boolean: .boolean
        case .date: .date
        case .data: .data
        case .array: .array
        case .dictionary: .dictionary
        case .uid: .uid
        case .null: .null
        }
    }

    /// Whether the value is an array or a dictionary.
    public var isContainer: Bool {
        switch self {
        case .array, .dictionary: true
        default: false
        }
    }
}

extension PropertyList: Hashable {
    public static func == (left: PropertyList, right: PropertyList) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a.isSameReal(as: b)
        case (.boolean(let a), .boolean(let b)): a == b
        case (.date(let a), .date(let b)):
            a.timeIntervalSinceReferenceDate.isSameReal(as: b.timeIntervalSinceReferenceDate)
        case (.data(let a), .data(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.dictionary(let a), .dictionary(let b)): a == b
        case (.uid(let a), .uid(let b)): a == b
        case (.null, .null): true
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .string(let text): text.hashBytes(into: &hasher)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number.canonicalBits)
        case .boolean(let flag): hasher.combine(flag)
        case .date(let date): hasher.combine(date.timeIntervalSinceReferenceDate.canonicalBits)
        case .data(let data): hasher.combine(data)
        case .array(let elements): hasher.combine(elements)
        case .dictionary(let dictionary): hasher.combine(dictionary)
        case .uid(let number): hasher.combine(number)
        case .null: break
        }
    }
}

extension Double {
    /// The bits by which reals are compared. Both zeros are equal, and so are all NaNs.
    package var canonicalBits: UInt64 {
        if self == 0 { return 0 }
        return isNaN ? Double.nan.bitPattern : bitPattern
    }

    fileprivate func isSameReal(as other: Double) -> Bool { self == other || (isNaN && other.isNaN) }
}

extension PropertyList {
    /// The value under `key` in a dictionary, or nil if there is none.
    ///
    /// Setting nil removes the entry. Setting an entry of anything but a dictionary changes nothing.
    public subscript(key: String) -> PropertyList? {
        get { dictionaryValue?[key] }
        set { try? set(newValue, at: EntryPath([.init(key)]), in: .dictionary) }
    }

    /// The element at `index` of an array, or nil if there is none. The last element is at −1.
    ///
    /// Setting nil removes the element. Setting the index after the last one appends an element. Setting an element
    /// anywhere else changes nothing.
    public subscript(index: Int) -> PropertyList? {
        get {
            guard case .array(let elements) = self, let position = index.position(among: elements.count) else {
                return nil
            }
            return elements[position]
        }
        set {
            let isEnd = index == arrayValue?.count
            try? set(newValue, at: EntryPath([isEnd ? .end : .init(index)]), in: .array)
        }
    }

    /// The entry at a path such as `:servers:0:port`, or nil if there is none.
    ///
    /// Setting nil removes the entry. Missing dictionaries on the path are created. Setting an entry that cannot exist,
    /// such as one inside a string, changes nothing; `set(_:at:)` throws the reason.
    public subscript(path path: String) -> PropertyList? {
        get { (try? EntryPath(parsing: path)).flatMap { self[$0] } }
        set { if let path = try? EntryPath(parsing: path) { self[path] = newValue } }
    }

    fileprivate mutating func set(
        _ value: PropertyList?, at path: EntryPath, in kind: Kind
    ) throws(EntryPath.Failure) {
        guard self.kind == kind else { return }
        try edit(path) { entry in entry = value }
    }
}

/// The contents of a value of one kind; nil for other kinds. Nothing is converted.
extension PropertyList {
    /// The string, or nil if the value is of another kind.
    public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
    /// The integer, or nil if the value is of another kind.
    public var integerValue: Integer? { if case .integer(let number) = self { number } else { nil } }
    /// The number of a real, or nil if the value is of another kind.
    public var realValue: Double? { if case .real(let number) = self { number } else { nil } }
    /// The Boolean, or nil if the value is of another kind.
    public var booleanValue: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// The date, or nil if the value is of another kind.
    public var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
    /// The data, or nil if the value is of another kind.
    public var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
    /// The elements of an array, or nil if the value is of another kind.
    public var arrayValue: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
    /// The entries of a dictionary, or nil if the value is of another kind.
    public var dictionaryValue: Dictionary? { if case .dictionary(let entries) = self { entries } else { nil } }
}

extension PropertyList {
    /// Returns an integer.
    public static func integer(_ number: Int) -> PropertyList { .integer(Integer(number)) }
}

extension PropertyList: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension PropertyList: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(Integer(value)) }
}

extension PropertyList: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self = .real(value) }
}

extension PropertyList: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension PropertyList: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: PropertyList...) { self = .array(elements) }
}

extension PropertyList: ExpressibleByDictionaryLiteral {
    /// Creates a dictionary. If a key is repeated, its last value is used.
    public init(dictionaryLiteral elements: (String, PropertyList)...) { self = .dictionary(Dictionary(elements)) }
}

// MARK: Descriptions

extension PropertyList: CustomStringConvertible {
    /// The value on one line, for people: `{name: "Ada", tags: ["a", 1.5], since: 2001-01-01T00:00:00Z, id: <0102>}`.
    ///
    /// Use `serialized(as:options:)` for text that a program reads.
    public var description: String {
        var text = ""
        describe(into: &text)
        return text
    }

    private func describe(into text: inout String) {
        switch self {
        case .string(let string): text += string.quoted
        case .integer(let number): text += number.description
        case .real(let number): text += number.description
        case .boolean(let flag): text += flag ? "true" : "false"
        case .date(let date): text += date.shownText
        case .data(let data): text += data.shownText
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                element.describe(into: &text)
            }
            text += "]"
        case .dictionary(let entries): entries.describe(into: &text)
        case .uid(let number): text += "uid \(number)"
        case .null: text += "null"
        }
    }
}

extension PropertyList.Dictionary: CustomStringConvertible {
    /// The entries on one line, for people.
    public var description: String { PropertyList.dictionary(self).description }

    fileprivate func describe(into text: inout String) {
        text += "{"
        for (index, entry) in enumerated() {
            if index > 0 { text += ", " }
            text += "\(entry.key.isWord ? entry.key : entry.key.quoted): \(entry.value)"
        }
        text += "}"
    }
}

extension PropertyList: CustomDebugStringConvertible {
    /// The value as it is written in Swift, with its kinds: `.dictionary(["a": .integer(1)])`.
    public var debugDescription: String {
        switch self {
        case .string(let text): ".string(\(text.quoted))"
        case .integer(let number): ".integer(\(number))"
        case .real(let number): ".real(\(number))"
        case .boolean(let flag): ".boolean(\(flag))"
        case .date(let date): ".date(\(date.shownText))"
        case .data(let data): ".data(\(data.shownText))"
        case .array(let elements): ".array([\(elements.map(\.debugDescription).joined(separator: ", "))])"
        case .dictionary(let entries):
            entries.isEmpty
                ? ".dictionary([:])"
                : ".dictionary([\(entries.map { "\($0.key.quoted): \($0.value.debugDescription)" }.joined(separator: ", "))])"
        case .uid(let number): ".uid(\(number))"
        case .null: ".null"
        }
    }
}

extension String {
    /// The text in quotes, escaped to fit on one line.
    fileprivate var quoted: String {
        let escaped = unicodeScalars.contains { $0 == "\"" || $0 == "\\" }
        let text = escaped ? replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") : self
        return "\"\(text.shown)\""
    }

    /// Whether the text is letters, digits and underscores, so that it needs no quotes.
    fileprivate var isWord: Bool {
        !isEmpty && utf8.allSatisfy { $0 | 0x20 &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "_") }
    }
}

extension Date {
    fileprivate var shownText: String { nearestRFC3339 ?? "date \(timeIntervalSinceReferenceDate)" }
}

extension Data {
    /// The first bytes in hexadecimal digits.
    fileprivate var shownText: String {
        "<\(Data(prefix(32)).hexadecimal)\(count > 32 ? "… \(count) bytes" : "")>"
    }
}
