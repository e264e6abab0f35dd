#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension OpenStepWriter {
    @inline(__always)
    mutating func write(scalar value: PropertyList) throws(Refusal) {
        if case .string(let text) = value { return write(text: text) }
        try write(otherScalar: value)
    }

    private mutating func write(otherScalar value: PropertyList) throws(Refusal) {
        if case .data(let data) = value { return write(data) }
        if dialect == .gnustep { return try write(typed: value) }
        guard options.coerces else { throw Refusal(.kindNotSupported(value.kind)) }
        try write(coerced: value)
    }

    private mutating func write(_ data: Data) {
        data.withUnsafeBytes { bytes in
            if dialect == .gnustep {
                output.append("<[")
                output.append(base64: bytes.bindMemory(to: UInt8.self))
                output.append("]>")
            } else {
                output.append("<")
                output.append(hexadecimal: bytes)
                output.append(">")
            }
        }
    }

    private mutating func write(typed value: PropertyList) throws(Refusal) {
        switch value {
        case .integer(let number): write(typed: number)
        case .real(let number):
            output.append("<*R")
            output.append(text: number.shortestText)
            output.append(">")
        case .boolean(let flag): if flag { output.append("<*BY>") } else { output.append("<*BN>") }
        case .date(let date):
            let (text, fraction) = try options.isLossy ? (date.flooredText, 0) : date.textAndFraction
            output.append("<*D")
            output.append(text: text)
            if fraction != 0 { output.append(text: " \(fraction)") }
            output.append(">")
        case .uid(let number):
            let nesting = options.limits.nesting
            guard level < nesting else { throw Refusal(.nestedTooDeeply(limit: nesting)) }
            output.append("{CF$UID = ")
            write(typed: PropertyList.Integer(number))
            output.append(";}")
        case .string, .data, .array, .dictionary: break
        }
    }

    private mutating func write(typed number: PropertyList.Integer) {
        output.append("<*I")
        output.append(number)
        output.append(">")
    }

    /// Writes as text what OpenStep has no type for, as Core Foundation and GNUstep describe it.
    private mutating func write(coerced value: PropertyList) throws(Refusal) {
        switch value {
        case .integer(let number): write(text: number.description)
        case .real(let number): write(text: number.shortestText)
        case .boolean(let flag): write(text: flag ? "1" : "0")
        case .date(let date): write(text: try date.flooredText)
        case .uid(let number): write(text: String(number))
        case .string, .data, .array, .dictionary: break
        }
    }
}

extension Double {
    /// The fewest digits that are read back as this number, without the point of a whole one.
    fileprivate var shortestText: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Date {
    /// `2001-02-03 04:05:06 +0000`: the second in which the date lies.
    fileprivate var flooredText: String {
        get throws(Refusal) { try Self.text(timeIntervalSinceReferenceDate.rounded(.down)) }
    }

    /// The whole second next to the date, toward 2001, and what of a second leads on from there: the two are exact.
    fileprivate var textAndFraction: (String, Double) {
        get throws(Refusal) {
            let whole = timeIntervalSinceReferenceDate.rounded(.towardZero)
            // Readers look at the sum.
            guard abs(timeIntervalSinceReferenceDate) <= CivilDate.greatestSeconds else {
                throw Refusal(.dateOutOfRange)
            }
            return (try Self.text(whole), timeIntervalSinceReferenceDate - whole)
        }
    }

    private static func text(_ seconds: Double) throws(Refusal) -> String {
        guard abs(seconds) <= CivilDate.greatestSeconds else { throw Refusal(.dateOutOfRange) }
        var text = OutputBuffer(capacity: 64)
        text.append(CivilDate(secondsSinceReference: Int(seconds)), separator: 0x20)
        text.append(" +0000")
        return String(validated: UnsafeBufferPointer(start: text.base, count: text.count), isASCII: true)
    }
}
