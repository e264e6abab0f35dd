internal import Digests

/// Which machine this is, without saying so to anybody who does not know already.
///
/// The machine's own number is to stay secret, as its manual asks. What is made of it by a one-way hash with a number
/// of ours is as good for telling machines apart, and leads nowhere. It is what `sd_id128_get_machine_app_specific`
/// gives.
package struct HostIdentity: Hashable, Sendable {
    /// 16 bytes, in the form of a random UUID.
    package let bytes: [UInt8]

    /// Nil where `text` is not the 32 hexadecimal digits of a machine's number.
    package init?(machineID text: [UInt8]) {
        let digits = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard digits.count == 32, let number = Hexadecimal.bytes(ofDigits: digits), number.contains(where: { $0 != 0 })
        else { return nil }
        self.init(key: number)
    }

    /// The identity of a machine that has nothing but a name, as in many containers.
    package init(hostName: String) { self.init(key: Array(hostName.utf8)) }

    private init(key: [UInt8]) {
        var bytes = Array(SHA256.code(of: Self.application, key: key).prefix(16))
        // The version and variant of a random UUID.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.bytes = bytes
    }

    /// The number of this application. Another one would make every host another one.
    private static let application: [UInt8] = [
        0x70, 0x72, 0x65, 0x66, 0x73, 0x2E, 0x42, 0x79, 0x48, 0x6F, 0x73, 0x74, 0x2E, 0x76, 0x31, 0x00,
    ]
}

extension HostIdentity: CustomStringConvertible {
    /// 32 hexadecimal digits.
    package var description: String { Hexadecimal.text(of: bytes) }
}

extension Environment {
    /// Which machine this is: by its number, else by its name.
    package func hostIdentity(in fileSystem: some FileSystem) throws(SystemFailure) -> HostIdentity {
        for path: FilePath in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let text = try fileSystem.contents(of: path, limit: 4096), let identity = HostIdentity(machineID: text) {
                return identity
            }
        }
        return HostIdentity(hostName: hostName)
    }
}
