internal import Platform

extension Machine {
    /// Returns the process that holds the lock of a file, if the kernel reports it.
    func lockHolder(of file: FileID) -> LockHolder? {
        guard let table = text(of: "/proc/locks") else { return nil }
        // For example, `1: FLOCK  ADVISORY  WRITE 4711 fd:01:131090 0 EOF`. A line with an arrow is of a waiting
        // process.
        for line in table.split(separator: "\n") where !line.contains("->") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0 else { continue }
            let place = fields[5].split(separator: ":")
            guard place.count == 3, UInt64(place[2]) == file.inode, isDevice(place[0], place[1], file.device) else {
                continue
            }
            let program = FilePath("/proc/\(process)/comm").flatMap { text(of: $0) }
            return LockHolder(process: process, program: program.map { String($0.prefix { $0 != "\n" }) })
        }
        return nil
    }

    /// Whether two hexadecimal numbers are those of the device.
    private func isDevice(_ major: Substring, _ minor: Substring, _ device: UInt64) -> Bool {
        let majorOfDevice = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
        let minorOfDevice = device & 0xFF | device >> 12 & 0xFFFF_FF00
        return UInt64(major, radix: 16) == majorOfDevice && UInt64(minor, radix: 16) == minorOfDevice
    }

    private func text(of path: FilePath) -> String? {
        (try? fileSystem.contents(of: path, limit: 16 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
}
