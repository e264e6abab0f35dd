/// One line of `/etc/passwd`, read by hand: the C library's own reader loads modules, which a static program cannot.
///
///     ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash
package struct PasswordEntry: Hashable, Sendable {
    package var name: String
    package var user: UInt32
    package var home: FilePath?

    /// Nil for what is no such line; other programs pass over those as well.
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

    /// The entries of the machine's own list.
    package static func all(in fileSystem: some FileSystem) throws(SystemFailure) -> [PasswordEntry] {
        let bytes = try fileSystem.contents(of: "/etc/passwd", limit: 16 << 20) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { PasswordEntry($0) }
    }
}
