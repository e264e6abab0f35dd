#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

#if os(Linux)
    // POSIX access lists are stored in an extended attribute. Swift's modules of the C library omit these calls.
    @_silgen_name("getxattr")
    private func getAttribute(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer?, _ size: Int
    ) -> Int

    @_silgen_name("fsetxattr")
    private func setAttribute(
        _ file: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer?, _ size: Int, _ flags: Int32
    ) -> Int32

    @_silgen_name("fremovexattr")
    private func removeAttribute(_ file: Int32, _ name: UnsafePointer<CChar>) -> Int32

    @_silgen_name("listxattr")
    private func listAttributes(
        _ path: UnsafePointer<CChar>, _ names: UnsafeMutableRawPointer?, _ size: Int
    ) -> Int

    private let accessList = "system.posix_acl_access"
    /// The kernel's limit for the size of an attribute.
    private let mostBytes = 1 << 16
#endif

/// Copies the access list of the file at `path` to `file`, or removes it if the source has none. Returns false on
/// failure.
func copyAccessList(of path: FilePath, to file: Descriptor) -> Bool {
    #if os(Linux)
        var list = [UInt8](repeating: 0, count: mostBytes)
        let count = path.withCString { getAttribute($0, accessList, &list, list.count) }
        if count > 0 { return setAttribute(file.number, accessList, list, count, 0) == 0 }
        guard count == 0 || isAbsence(errno) else { return false }
        // A new file may have inherited a list from its folder.
        return removeAttribute(file.number, accessList) == 0 || isAbsence(errno)
    #else
        return true
    #endif
}

/// Copies the `user.` attributes of the file at `path` to `file`, as far as its file system supports them.
func copyUserAttributes(of path: FilePath, to file: Descriptor) {
    #if os(Linux)
        let size = path.withCString { listAttributes($0, nil, 0) }
        guard size > 0 else { return }
        var names = [UInt8](repeating: 0, count: size)
        let count = path.withCString { listAttributes($0, &names, names.count) }
        guard count > 0 else { return }
        var value = [UInt8](repeating: 0, count: mostBytes)
        for name in names.prefix(count).split(separator: 0) where name.starts(with: "user.".utf8) {
            let name = name.map { CChar(bitPattern: $0) } + [0]
            let length = path.withCString { getAttribute($0, name, &value, value.count) }
            if length >= 0 { _ = setAttribute(file.number, name, value, length, 0) }
        }
    #endif
}

#if os(Linux)
    /// Returns whether an error code means that there is no access list or that lists are not supported.
    private func isAbsence(_ code: Int32) -> Bool { [ENODATA, ENOTSUP, ENOSYS].contains(code) }
#endif
