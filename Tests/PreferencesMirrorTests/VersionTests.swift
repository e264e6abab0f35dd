import Foundation
import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// A file that a later version of the format may contain.
@Suite struct `A pack with unknown fields` {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let field: UInt8
        let value: UInt8
        let fault: PackFault?
    }

    static let rows = [
        Row(testDescription: "a field that a reader may ignore", field: 27, value: 1, fault: nil),
        Row(testDescription: "a field that a reader must know", field: 38, value: 1, fault: .unknownField(38)),
        Row(testDescription: "that it is of another version", field: 12, value: 4, fault: .newerVersion(4)),
    ]

    @Test(arguments: rows) func `is joined only if they can be ignored`(_ row: Row) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("first", 1)
        try hosts[0].sync()
        let (path, bytes) = try #require(
            try bench.directoryContents().filter { $0.key.hasSuffix(".log") }.max { $0.key < $1.key })
        let newer = saying(row.field, row.value, in: bytes)
        let files = bench.disk.process(user: 1000)
        let place = try #require(FilePath(path))
        try files.remove(place)
        let name = PackName(kind: .log, number: 1, hash: try #require(ContentHash(newer.suffix(32))))
        let newPlace = place.parent.parent.resolving(try #require(FilePath(name.description)))
        try files.replace(newPlace, with: newer)
        if let fault = row.fault {
            #expect(throws: fault) { try Pack(decoding: newer) }
        } else {
            #expect(try Pack(decoding: newer).hasUnknownFields)
        }
        let session = try hosts[1].sync()
        #expect(try hosts[1].values() == (row.fault == nil ? ["first": 1] : [:]))
        #expect(try hosts[1].condition() == (row.fault == nil ? .inSync : .waiting))
        // The file remains unchanged while old versions write.
        try hosts[1].write("ours", 1)
        var own = try hosts[1].session()
        try own.begin()
        try own.exchange()
        try own.send(.compact)
        own.end()
        #expect(try files.contents(of: newPlace) == newer)
        #expect(session.writer == own.writer)
    }

    /// Returns the same file with an additional or changed field and a valid hash.
    private func saying(_ field: UInt8, _ value: UInt8, in bytes: [UInt8]) -> [UInt8] {
        // Magic and kind; a header of up to 127 bytes, whose length is one byte; records; a trailer of 48 bytes.
        let former = Array(bytes[6..<6 + Int(bytes[5])])
        let rest = bytes[(6 + former.count)..<(bytes.count - 40)]
        var (header, place) = ([UInt8](), 0)
        while place < former.count {
            let end = place + 2 + Int(former[place + 1])
            header += former[place] == field ? [field, 1, value] : Array(former[place..<end])
            place = end
        }
        if field > 26 { header += [field, 1, value] }
        var new = Array(bytes.prefix(5)) + [UInt8(header.count)] + header + rest
        let length = new.count + 40
        new += (0..<8).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
        return new + ContentHash(of: new).bytes
    }
}

/// The files of two hosts of the first version: one with a conflict and an unpublished change, the other with an edit
/// that it had not yet read.
@Suite struct `Files of the first version` {
    /// Each file as its path, a tab and its bytes in hexadecimal. HOST is the folder of one host's mirrors.
    private static let fixture = packageRoot.appending(path: "Tests/Samples/FirstVersion/files.txt")

    private func bytes(_ digits: Substring) -> [UInt8] {
        let digits = digits.utf8.map { UInt8(Character(UnicodeScalar($0)).hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    @Test func `are not read, and the failure states why`() throws {
        let bench = try MirrorBench()
        let hosts = try ["a", "b"].map { try MirrorHost($0, on: bench.disk) }
        let host = "\(hosts[0].places.folder)".split(separator: "/").last ?? ""
        let files = bench.disk.process(user: 1000)
        for line in try String(contentsOf: Self.fixture, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: "\t")
            let path = try #require(FilePath(Array(words[0].replacing("HOST", with: host).utf8)))
            try files.makeFolders(path.parent)
            try files.replace(path, with: bytes(words[1]))
        }
        bench.disk.clock.advance(by: .seconds(3600))
        let failure = MirrorFailure(.earlierFormat(directory: MirrorBench.directory.description))
        let former = try files.contents(of: hosts[0].session().folder.appending("journal"))
        for host in hosts {
            #expect(throws: failure, "\(host.name)") { try host.sync() }
            #expect(throws: failure, "\(host.name)") { try host.status() }
        }
        #expect(throws: failure) { try bench.stranger("c").enter(isFirst: false) }
        #expect(throws: failure) { try bench.stranger("d").enter(isFirst: true) }
        #expect(try files.contents(of: hosts[0].session().folder.appending("journal")) == former, "nothing is changed")
        var session = try hosts[0].session()
        try session.forget()
        #expect(hosts[0].places.joined.isEmpty)
    }
}
