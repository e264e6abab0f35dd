internal import Digests

/// An identifier of the machine that does not disclose its machine ID.
///
/// machine-id(5) asks to keep the machine ID confidential. A keyed hash of it with an application ID distinguishes
/// machines equally well and cannot be reversed. The result is that of `sd_id128_get_machine_app_specific`.
package struct HostIdentity: Hashable, Sendable {
    /// 16 bytes in the format of a random UUID.
    package let bytes: [UInt8]

    /// Creates the identity, or returns nil if `text` is not a machine ID of 32 hexadecimal digits.
    package init?(machineID text: [UInt8]) {
        let digits = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard digits.count == 32, let number = Hexadecimal.bytes(ofDigits: digits), number.contains(where: { $0 != 0 })
        else { return nil }
        self.init(key: number)
    }

    /// Creates the identity of a machine that has no machine ID, as in many containers.
    package init(hostName: String) { self.init(key: Array(hostName.utf8)) }

    private init(key: [UInt8]) {
        var bytes = Array(SHA256.code(of: Self.application, key: key).prefix(16))
        // Version 4 and the variant bits of a random UUID.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.bytes = bytes
    }

    /// The application ID. Changing it would change the identity of every host.
    private static let application: [UInt8] = [
        0x70, 0x72, 0x65, 0x66, 0x73, 0x2E, 0x42, 0x79, 0x48, 0x6F, 0x73, 0x74, 0x2E, 0x76, 0x31, 0x00,
    ]
}

extension HostIdentity: CustomStringConvertible {
    /// 32 hexadecimal digits.
    package var description: String { Hexadecimal.text(of: bytes) }
}

extension Environment {
    /// Returns the identity of this machine from its machine ID, or else from its host name.
    package func hostIdentity(in fileSystem: some FileSystem) throws(SystemFailure) -> HostIdentity {
        for path: FilePath in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let text = try fileSystem.contents(of: path, limit: 4096), let identity = HostIdentity(machineID: text) {
                return identity
            }
        }
        return HostIdentity(hostName: hostName)
    }
}
