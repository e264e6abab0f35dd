import Platform
import TestSupport
import Testing

#if os(Linux)
    /// Functions for attributes, which Swift's Glibc module lacks.
    @_silgen_name("getxattr")
    private func getAttribute(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer?, _ size: Int
    ) -> Int

    @_silgen_name("setxattr")
    private func setAttribute(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer?, _ size: Int,
        _ flags: Int32
    ) -> Int32

    @Suite struct `A file with an access list` {
        /// Only the owner and user 12345 may read and write.
        static let list: [UInt8] =
            [2, 0, 0, 0] + entry(1, 6) + entry(2, 6, [0x39, 0x30, 0, 0]) + entry(4, 0) + entry(16, 6) + entry(32, 0)

        private static func entry(_ tag: UInt8, _ rights: UInt8, _ id: [UInt8] = [255, 255, 255, 255]) -> [UInt8] {
            [tag, 0, rights, 0] + id
        }

        private func set(_ name: String, of path: FilePath) throws {
            let status = setAttribute(path.description, "system.posix_acl_\(name)", Self.list, Self.list.count, 0)
            if status != 0 { try Test.cancel("the file system has no access lists") }
        }

        private func list(of path: FilePath) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = getAttribute(path.description, "system.posix_acl_access", &bytes, bytes.count)
            return count < 0 ? nil : Array(bytes.prefix(count))
        }

        @Test func `keeps its list when it is replaced`() throws {
            let bench = try FileSystemSubject.real.make()
            try bench.write("old", to: "file")
            let path = bench.path("file")
            try set("access", of: path)
            let status = try present(bench.fileSystem.status(of: path))
            #expect(status.permissions == FilePermissions(rawValue: 0o660))
            try bench.fileSystem.replace(path, with: Array("new".utf8), like: status)
            #expect(try bench.fileSystem.status(of: path)?.permissions == status.permissions)
            #expect(list(of: path) == Self.list)
        }

        @Test func `does not inherit a list from its folder`() throws {
            let bench = try FileSystemSubject.real.make()
            try bench.write("old", to: "file")
            let path = bench.path("file")
            let shared = FilePermissions(rawValue: 0o640)
            try bench.fileSystem.open(path, .reading)?.setPermissions(shared)
            try set("default", of: bench.folder)
            try bench.fileSystem.replace(path, with: Array("new".utf8), like: bench.fileSystem.status(of: path))
            #expect(try bench.fileSystem.status(of: path)?.permissions == shared)
            #expect(list(of: path) == nil)
        }

        @Test func `is closed to its group if the list cannot be copied`() throws {
            let bench = try FileSystemSubject.real.make()
            try bench.write("old", to: "file")
            var model = try present(bench.fileSystem.status(of: bench.path("file")))
            model.permissions = FilePermissions(rawValue: 0o664)
            // The file was removed meanwhile, so its permissions are unknown.
            let (temporary, _) = try bench.fileSystem.startTemporary(
                Array("new".utf8), beside: bench.path("gone"), like: model)
            #expect(try bench.fileSystem.status(of: temporary)?.permissions == FilePermissions(rawValue: 0o604))
        }
    }
#endif
