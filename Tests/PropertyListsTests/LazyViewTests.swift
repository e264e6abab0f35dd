import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct LazyViewTests {
    /// A file that another process truncates while it is read.
    ///
    /// `@unchecked` because only the test that made it uses it, from one thread.
    private final class ShrinkingFile: ByteSource, @unchecked Sendable {
        var bytes: Data

        struct Short: Error {}

        init(_ bytes: Data) { self.bytes = bytes }

        var byteCount: Int { bytes.count }

        func bytes(at offset: Int, count: Int) throws -> [UInt8] {
            guard offset + count <= bytes.count else { throw Short() }
            return [UInt8](bytes[offset..<offset + count])
        }
    }

    /// A source that returns `difference` more bytes than were requested.
    private struct CarelessSource: ByteSource {
        let file: [UInt8]
        let difference: Int

        var byteCount: Int { file.count }

        func bytes(at offset: Int, count: Int) -> [UInt8] {
            Array(repeating: 0x0B, count: max(0, count + difference))
        }
    }

    @Test(arguments: [-1000, -1, 1, 1000])
    func `a source that returns a different number of bytes gives an error`(_ difference: Int) throws {
        let file = [UInt8](try PropertyList.array([.boolean(true)]).serialized(as: .binary))
        #expect(throws: DecodingFailure.self) {
            try BinaryPropertyList(CarelessSource(file: file, difference: difference)).root
        }
    }

    @Test(arguments: [0, 9, 100, 600, 2000])
    func `a file that shrinks while it is read gives the error of its source`(_ count: Int) throws {
        let value = PropertyList.array((0..<2000).map { .integer(PropertyList.Integer($0)) })
        let file = ShrinkingFile(try value.serialized(as: .binary))
        let view = try BinaryPropertyList(file)
        file.bytes.removeLast(file.bytes.count - count)
        #expect(throws: ShrinkingFile.Short.self) { try view.root }
        #expect(throws: ShrinkingFile.Short.self) { try view.value(at: ["1999"]) }
    }

    @Test func `a long key that occurs many times is one text in memory`() throws {
        let file = Data(
            binaryObjects: [
                Data([0xD4, 1, 1, 1, 1, 2, 2, 2, 2]), Data([0x5F, 0x10, 40]) + Data(repeating: 0x6B, count: 40),
                Data([0x09]),
            ], referenceSize: 1)
        let keys = try BinaryPropertyList(parsing: file).keys
        #expect(keys == Array(repeating: String(repeating: "k", count: 40), count: 4))
        let places = keys.map { key in key.utf8.withContiguousStorageIfAvailable { $0.baseAddress } }
        #expect(places[1] == places[2] && places[2] == places[3])
    }

    /// The result is that of a complete read, although the file claims that its keys are sorted.
    @Test(arguments: 1...9)
    func `the last value of a duplicate key is found`(_ times: Int) throws {
        let references = (0..<times).map { "1=\($0 + 3)" }.joined(separator: " ")
        let values = (0..<times).map { "\($0 + 3) int \($0)" }.joined(separator: "\n")
        let file = try BinaryAssembler(
            "0 dict \(references) 2=3\n1 ascii \"a\"\n2 ascii \"b\"\n\(values)\nsort = 1"
        ).bytes
        let view = try BinaryPropertyList(parsing: file)
        #expect(try view.value(at: ["a"]) == .integer(.init(times - 1)))
        #expect(try view.value(at: ["b"]) == .integer(0))
        #expect(try PropertyList(parsing: file) == .dictionary(["a": .integer(.init(times - 1)), "b": .integer(0)]))
    }

    @Test func `keys that overlap are refused`() {
        // Each key starts inside the previous one, so that a few bytes would expand to many texts.
        let keys = (0..<9).map { _ in Data([0x58]) }.reduce(Data(), +)
        var file = Data("bplist00".utf8) + [0xD9] + (1...9) + Data(repeating: 10, count: 9)
        let first = UInt8(file.count)
        file += keys + Data(repeating: 0x61, count: 8) + [0x09]
        let table = UInt8(file.count)
        file += [8] + (0..<9).map { first + $0 } + [table - 1]
        file += [0, 0, 0, 0, 0, 0, 1, 1] + UInt64(11).bigEndian(width: 8) + UInt64(0).bigEndian(width: 8)
        file += UInt64(table).bigEndian(width: 8)
        let failure = #expect(throws: DecodingFailure.self) { try BinaryPropertyList(parsing: file).keys }
        #expect(failure?.problem == .overlappingObjects)
    }
}
