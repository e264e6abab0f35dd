package import Foundation
import PropertyLists

/// Assembles a binary property list from a description of its objects, in which invalid parts are visible.
///
///     0 dict 1=2              object 0; key references = value references
///     1 ascii "k"
///     2 int 5
///     2 int 5 width 8         in more bytes than needed
///     2 hex 10 05             literal bytes
///     gap 00 00               bytes that belong to no object
///     offset 2 = 4096         instead of the start of object 2; `object 1+1` is a byte after the start of object 1
///     root = 7                likewise `count`, `table`, `sort`, `unused`
///     offset size = 2         the width of the offsets; `said offset size` changes only the number in the trailer
///     reference size = 2      likewise for references, and `said reference size`
///     header "bplist15"       instead of bplist00
///     after = 00              bytes after the trailer
///     trailer = none          no trailer
///
/// Kinds: `null` `false` `true` `int` `real` `real4` `date` (seconds from 2001) `data` (hex) `ascii` `utf16` `uid`
/// `array` `set` `dict` `hex`.
package struct BinaryAssembler {
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    /// The assembled file.
    package private(set) var bytes = Data()
    /// The start of each object.
    package private(set) var objectStarts: [Int] = []
    package private(set) var tableStart = 0
    package private(set) var trailerStart = 0
    private var referenceSize = 1
    private var offsetSize = 1
    private var overrides: [String: String] = [:]

    package init(_ description: String) throws {
        let lines = description.split(separator: "\n").map {
            String($0).trimmingCharacters(in: .whitespaces)
        }
        .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        var objects: [(name: String, text: String)] = []
        for line in lines {
            let (word, rest) = line.splitAtFirstSpace
            if Int(word) != nil || word == "gap" || word == "header" {
                objects.append((word, rest))
            } else {
                let sides = line.split(separator: "=", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                guard sides.count == 2 else { throw Mistake(description: "not understood: \(line)") }
                overrides[sides[0]] = sides[1]
            }
        }
        referenceSize = try number("reference size") ?? 1
        try assemble(objects)
    }

    /// Returns the offset for a description of a place: `12`, `object 3`, `table 2`, `trailer+6`, `end`.
    package func offset(of place: String) throws -> Int {
        let sum = place.split(separator: "+").map { $0.trimmingCharacters(in: .whitespaces) }
        let (word, rest) = sum[0].splitAtFirstSpace
        let base: Int? =
            switch word {
            case "object": Int(rest).map { (number: Int) -> Int in objectStarts[number] }
            case "table":
                Int(rest.isEmpty ? "0" : rest).map { (number: Int) -> Int in
                    tableStart + number * offsetSize
                }
            case "trailer": trailerStart
            case "end": bytes.count
            default: Int(word)
            }
        guard let base, let more = sum.count > 1 ? Int(sum[1]) : 0 else {
            throw Mistake(description: "no place: \(place)")
        }
        return base + more
    }
}

extension BinaryAssembler {
    private mutating func assemble(_ objects: [(name: String, text: String)]) throws {
        var header = Data("bplist00".utf8)
        if objects.first?.name == "header" {
            header = Data(try ValueNotation.string(objects[0].text).utf8)
        }
        bytes = header
        for (name, text) in objects where name != "header" {
            if name == "gap" {
                bytes += try Data(hex: text)
                continue
            }
            guard Int(name) == objectStarts.count else {
                throw Mistake(description: "object \(name) is out of turn")
            }
            objectStarts.append(bytes.count)
            bytes += try object(text)
        }
        try appendTable()
        try appendTrailer()
        if let after = overrides.removeValue(forKey: "after") { bytes += try Data(hex: after) }
        guard overrides.isEmpty else {
            throw Mistake(description: "not understood: \(overrides.keys.sorted())")
        }
    }

    private mutating func appendTable() throws {
        tableStart = bytes.count
        let known = try number("offset size")
        offsetSize = known ?? 1
        for object in objectStarts.indices {
            var start = UInt64(objectStarts[object])
            if let written = overrides.removeValue(forKey: "offset \(object)") {
                start = try written.hasPrefix("0x") ? magnitude(written) : UInt64(offset(of: written))
            }
            bytes += start.bigEndian(width: offsetSize)
        }
    }

    private mutating func appendTrailer() throws {
        trailerStart = bytes.count
        if overrides["trailer"] == "none" {
            overrides["trailer"] = nil
            return
        }
        func field(_ name: String, _ usual: UInt64) throws -> UInt64 {
            try overrides.removeValue(forKey: name).map(magnitude) ?? usual
        }
        let unused = overrides.removeValue(forKey: "unused") ?? "00 00 00 00 00"
        bytes += try Data(hex: unused)
        bytes += try field("sort", 0).bigEndian(width: 1)
        bytes += try field("said offset size", UInt64(offsetSize)).bigEndian(width: 1)
        bytes += try field("said reference size", UInt64(referenceSize)).bigEndian(width: 1)
        bytes += try field("count", UInt64(objectStarts.count)).bigEndian(width: 8)
        bytes += try field("root", 0).bigEndian(width: 8)
        bytes += try field("table", UInt64(tableStart)).bigEndian(width: 8)
    }

    private mutating func number(_ name: String) throws -> Int? {
        try overrides.removeValue(forKey: name).map { Int(try magnitude($0)) }
    }

    private func magnitude(_ text: String) throws -> UInt64 {
        let number = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
        guard let number else { throw Mistake(description: "not a number: \(text)") }
        return number
    }
}

// MARK: Objects

extension BinaryAssembler {
    private func object(_ text: String) throws -> Data {
        let (kind, rest) = text.splitAtFirstSpace
        switch kind {
        case "null": return Data([0x00])
        case "false": return Data([0x08])
        case "true": return Data([0x09])
        case "hex": return try Data(hex: rest)
        case "real": return try Data([0x23]) + real(rest).bitPattern.bigEndian(width: 8)
        case "real4": return try Data([0x22]) + UInt64(Float(real(rest)).bitPattern).bigEndian(width: 4)
        case "date": return try Data([0x33]) + real(rest).bitPattern.bigEndian(width: 8)
        case "int", "uid": return try wholeNumber(rest, isUID: kind == "uid")
        case "data":
            let data = try Data(hex: rest)
            return Self.head(0x40, data.count) + data
        case "ascii":
            let string = try ValueNotation.string(rest)
            return Self.head(0x50, string.utf8.count) + Data(string.utf8)
        case "utf16":
            let units = Array(try ValueNotation.string(rest).utf16)
            return Self.head(0x60, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case "array", "set":
            let elements = try rest.split(separator: " ").map { try reference($0) }
            return Self.head(kind == "set" ? 0xC0 : 0xA0, elements.count) + elements.joined()
        case "dict":
            let entries = rest.split(separator: " ").map { $0.split(separator: "=") }
            let keys = try entries.map { try reference($0[0]) }
            let values = try entries.map { try reference($0[1]) }
            return Self.head(0xD0, entries.count) + keys.joined() + values.joined()
        default: throw Mistake(description: "no such kind: \(kind)")
        }
    }

    private func reference(_ text: Substring) throws -> Data {
        try magnitude(String(text)).bigEndian(width: referenceSize)
    }

    private func real(_ text: String) throws -> Double {
        guard let number = Double(text) else { throw Mistake(description: "not a number: \(text)") }
        return number
    }

    private func wholeNumber(_ text: String, isUID: Bool) throws -> Data {
        let words = text.split(separator: " ")
        let bits: UInt64
        if words[0].hasPrefix("-"), let negative = Int64(words[0]) {
            bits = UInt64(bitPattern: negative)
        } else {
            bits = try magnitude(String(words[0]))
        }
        let least =
            words[0].hasPrefix("-") ? 8 : [1, 2, 4, 8].first { $0 == 8 || bits >> UInt64($0 * 8) == 0 }!
        let width = words.count == 3 ? Int(words[2])! : least
        if isUID { return Data([0x80 | UInt8(width - 1)]) + bits.bigEndian(width: width) }
        return Data([0x10 | UInt8(width.trailingZeroBitCount)]) + bits.bigEndian(width: width)
    }

    /// Returns a marker with a count. From 15 on, the count is an integer after the marker.
    package static func head(_ marker: UInt8, _ count: Int) -> Data {
        if count < 15 { return Data([marker | UInt8(count)]) }
        let width = count < 0x100 ? 1 : count < 0x1_0000 ? 2 : 4
        return Data([marker | 0x0F, 0x10 | UInt8(width.trailingZeroBitCount)])
            + UInt64(count).bigEndian(width: width)
    }
}

extension UInt64 {
    /// Returns the lowest `width` bytes, highest first.
    package func bigEndian(width: Int) -> Data {
        Data(
            (0..<width).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: self >> UInt64($0 * 8)) : 0 })
    }
}

extension String {
    package var splitAtFirstSpace: (first: String, rest: String) {
        guard let space = firstIndex(of: " ") else { return (self, "") }
        return (String(self[..<space]), self[space...].trimmingCharacters(in: .whitespaces))
    }
}
