import FoundationEssentials
import Glibc
import PropertyLists

/// An open file that counts what is read from it; unchecked because the one thread that measures is all that uses it.
private struct CountingFile: ByteSource, @unchecked Sendable {
    let descriptor: CInt
    let byteCount: Int
    let copied = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init(_ path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        byteCount = Int(lseek(descriptor, 0, SEEK_END))
        guard descriptor >= 0, byteCount > 0 else { throw Failure.system(path) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        guard pread(descriptor, buffer.baseAddress, buffer.count, offset) == buffer.count else {
            throw Failure("the file is shorter than it was")
        }
        copied.pointee += buffer.count
    }
}

extension Bound {
    /// One key of a hundred thousand, looked up in an open file as the store writes it.
    static func lazyLookup(_ files: LoadFiles) throws -> Bound {
        let value = try PropertyList(parsing: contents(of: files.path(.flat, .binary)), as: .binary)
        guard case .dictionary(let dictionary) = value else { throw Failure("the load F is no dictionary") }
        var options = PropertyList.WritingOptions.default
        options.marksSortedRoot = true
        let path = files.path(.flat, .binary) + "-sorted"
        try value.serialized(as: .binary, options: options).write(to: URL(filePath: path))
        let file = try CountingFile(path)
        let keys = dictionary.map(\.key)
        var turn = 0
        return Bound(name: "one key of F from an open file", milliseconds: 0.03) {
            // Another key each time: the same one would lie in the caches.
            turn = (turn + 7919) % keys.count
            file.copied.pointee = 0
            let view = try BinaryPropertyList(file)
            guard try view[keys[turn]] == dictionary[keys[turn]] else { throw Failure("found another value") }
            guard file.copied.pointee <= 65_536 else { throw Failure("copied \(file.copied.pointee) bytes") }
            return "found, \(file.copied.pointee) bytes copied"
        }
    }
}
