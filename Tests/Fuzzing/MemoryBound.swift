#if !FUZZER
    internal import PropertyLists

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// An input that takes the most memory for its size. The limit is 64 bytes for each byte of input, and a constant.
    struct Flood {
        let name: String
        let format: PropertyList.Format?
        let bytes: @Sendable () -> [UInt8]

        static let length = 8 << 20
        static let most = 64 * length + (16 << 20)

        private static func text(
            _ name: String, _ format: PropertyList.Format?, _ opening: String = "", _ unit: String,
            _ closing: String = ""
        ) -> Flood {
            Flood(name: name, format: format) {
                let unit = Array(unit.utf8)
                var bytes = Array(opening.utf8)
                bytes.reserveCapacity(length + 64)
                while bytes.count < length { bytes += unit }
                return bytes + Array(closing.utf8)
            }
        }

        static let all: [Flood] = [
            text("json-numbers", .json, "[", "1,", "1]"),
            text("json-empty-arrays", .json, "[", "[],", "1]"),
            text("json-arrays-of-one", .json, "[", "[1],", "1]"),
            text("json-objects-of-one", .json, "[", "{\"a\":1},", "1]"),
            text("json-same-keys", .json, "{", "\"\":1,", "\"\":1}"),
            text("json-texts", .json, "[", "\"sixteen bytes!!!\",", "1]"),
            text("json-openings", .json, "", "["),
            text("openstep-texts", .openstep, "(", "a,", "a)"),
            text("openstep-keys", .openstep, "{", "a;", "}"),
            text("openstep-arrays", .openstep, "(", "(a),", "a)"),
            text("toml-numbers", .toml, "a=[", "1,", "1]"),
            text("toml-empty-arrays", .toml, "a=[", "[],", "1]"),
            text("toml-empty-tables", .toml, "a=[", "{},", "1]"),
            text("toml-tables", .toml, "", "[[a]]\n"),
            text("toml-dotted-keys", .toml, "", "a.", "a=1"),
            text("sniffed-texts", nil, "(", "a,", "a)"),
            text("xml-booleans", .xml, "<array>", "<true/>", "</array>"),
            text("xml-empty-keys", .xml, "<dict>", "<key/><true/>", "</dict>"),
            text("xml-data", .xml, "<array>", "<data/>", "</array>"),
            Flood(name: "binary-references-to-one", format: .binary) { binary(marker: 0xAF) },
            Flood(name: "binary-keys-and-values", format: .binary) { binary(marker: 0xDF) },
            Flood(name: "binary-references-to-a-wide-text", format: .binary) { binary(marker: 0xAF, wideText) },
            Flood(name: "binary-wide-keys-and-values", format: .binary) { binary(marker: 0xDF, wideText) },
            Flood(name: "binary-references-to-data", format: .binary) {
                binary(marker: 0xAF, [0x4F, 0x10, 15] + [UInt8](repeating: 7, count: 15))
            },
            Flood(name: "binary-an-array-met-twice", format: .binary, bytes: binaryArrayMetTwice),
            Flood(name: "binary-arrays-of-one", format: .binary, bytes: binaryArraysOfOne),
        ]

        /// The longest text whose count is in its marker. It is too long to be stored inline in a value.
        private static let wideText: [UInt8] = [0x6E] + (0..<14).flatMap { _ in [0x4E, 0x2D] as [UInt8] }

        /// A container with many references of one byte, all to a text of one character or to another object.
        private static func binary(marker: UInt8, _ object: [UInt8] = [0x51, 0x61]) -> [UInt8] {
            let count = marker == 0xAF ? length : length / 2
            var bytes = Array("bplist00".utf8) + [marker, 0x12] + bigEndian(count, 4)
            bytes += [UInt8](repeating: 1, count: marker == 0xAF ? count : 2 * count)
            let text = bytes.count
            bytes += object
            return bytes + bigEndian(8, 4) + bigEndian(text, 4) + trailer(4, 1, 2, bytes.count)
        }

        /// An array that occurs twice in another one.
        private static func binaryArrayMetTwice() -> [UInt8] {
            var bytes = Array("bplist00".utf8) + [0xA2, 1, 1, 0xAF, 0x12] + bigEndian(length, 4)
            bytes += [UInt8](repeating: 2, count: length)
            let flag = bytes.count
            bytes.append(0x09)
            return bytes + bigEndian(8, 4) + bigEndian(11, 4) + bigEndian(flag, 4) + trailer(4, 1, 3, bytes.count)
        }

        /// An array of arrays, each of which has one element.
        private static func binaryArraysOfOne() -> [UInt8] {
            let count = length / 11
            var bytes = Array("bplist00".utf8) + [0xAF, 0x12] + bigEndian(count, 4)
            for object in 1...count { bytes += bigEndian(object, 3) }
            var offsets = bigEndian(8, 4)
            for _ in 1...count {
                offsets += bigEndian(bytes.count, 4)
                bytes += [0xA1] + bigEndian(count + 1, 3)
            }
            offsets += bigEndian(bytes.count, 4)
            bytes.append(0x09)
            return bytes + offsets + trailer(4, 3, count + 2, bytes.count)
        }

        private static func trailer(_ offsetSize: Int, _ referenceSize: Int, _ count: Int, _ table: Int) -> [UInt8] {
            [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)] + bigEndian(count, 8) + bigEndian(0, 8)
                + bigEndian(table, 8)
        }

        private static func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
    }

    extension Flood {
        /// Reads the input in this process alone, and prints the memory used. Returns false if it is too much.
        func isBounded() throws -> Bool {
            let bytes = bytes()
            let before = try Self.status("VmRSS:")
            // Resets the peak of the memory usage to the current usage.
            try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
            let outcome: String
            do throws(DecodingFailure) {
                outcome = try PropertyList(parsing: bytes, as: format, limits: .init(expandedNodes: .max)).kind.rawValue
            } catch {
                outcome = "\(error.problem)"
            }
            let taken = try Self.status("VmHWM:") - before
            let ratio = Double(taken * 10 / bytes.count) / 10
            say("\(name): \(ratio) bytes for each of \(bytes.count) (\(outcome))", to: 1)
            return taken <= Self.most
        }

        /// A figure of this process in bytes.
        private static func status(_ field: String) throws -> Int {
            let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
            let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
            return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
        }
    }
#endif
