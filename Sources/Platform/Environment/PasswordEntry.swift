/// A line of `/etc/passwd`. Parsed here because the C library's `getpwuid` loads modules, which a static program cannot
/// do.
///
///     ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash
package struct PasswordEntry: Hashable, Sendable {
    package var name: String
    package var user: UInt32
    package var home: FilePath?

    /// Parses a line, or returns nil if it is invalid; other programs skip such lines too.
    package init?(_ line: some Collection<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count >= 7, !fields[0].isEmpty, let user = UInt32(String(decoding: fields[2], as: UTF8.self))
        else {
            return nil
        }
        name = String(decoding: fields[0], as: UTF8.self)
        self.user = user
        home = FilePath(fields[5])
    }

    /// Returns the entries of `/etc/passwd`.
    package static func all(in fileSystem: some FileSystem) throws(SystemFailure) -> [PasswordEntry] {
        let bytes = try fileSystem.contents(of: "/etc/passwd", limit: 16 << 20) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { PasswordEntry($0) }
    }
}
