#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A value as property lists know it: the one that every format is read into and written from.
///
/// Values of different kinds are never equal: `.boolean(true)`, `.integer(1)` and `.real(1)` are three.
/// Text is compared byte for byte, so that two spellings of one character are two values.
public enum PropertyList: Sendable {
    case string(String)
    case integer(Integer)
    case real(Double)
    case boolean(Bool)
    case date(Date)
    case data(Data)
    case array([PropertyList])
    case dictionary(Dictionary)
    /// A reference inside a keyed archive. Binary files have a type for it; XML says `{CF$UID = n}`.
    case uid(UInt64)
}

extension PropertyList {
    /// The kinds of value, under the names that `defaults read-type` prints.
    public enum Kind: String, Sendable, CaseIterable {
        case string, integer, real, boolean, date, data, array, dictionary, uid
    }

    /// Which of the types it has.
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
        }
    }

    /// Whether the value holds other values.
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
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .string(let text): text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number.canonicalBits)
        case .boolean(let flag): hasher.combine(flag)
        case .date(let date): hasher.combine(date.timeIntervalSinceReferenceDate.canonicalBits)
        case .data(let data): hasher.combine(data)
        case .array(let elements): hasher.combine(elements)
        case .dictionary(let dictionary): hasher.combine(dictionary)
        case .uid(let number): hasher.combine(number)
        }
    }
}

extension Double {
    /// The bits that stand for this value in comparisons: one zero, one NaN, everything else as it is.
    package var canonicalBits: UInt64 {
        if self == 0 { return 0 }
        return isNaN ? Double.nan.bitPattern : bitPattern
    }

    fileprivate func isSameReal(as other: Double) -> Bool { self == other || (isNaN && other.isNaN) }
}
