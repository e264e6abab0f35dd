import Glibc

/// The bytes of a file.
func contents(of path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure.system(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.system(path) }
    return try [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
        while count < buffer.count {
            let got = read(descriptor, buffer.baseAddress! + count, buffer.count - count)
            if got < 0, errno != EINTR { throw Failure.system(path) }
            if got == 0 { break }
            count += max(got, 0)
        }
    }
}

/// When a file was last written, in seconds; nil where there is none.
func lastChange(of path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mtim.tv_sec : nil
}
