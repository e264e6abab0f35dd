internal import MirrorEngine
internal import Platform
internal import Preferences

/// A mark next to the preference files, in a file for each mirror.
///
/// A backup of the files restores an old mark, and a backup of the mirror's state leaves a mark that the state does not
/// know. The next exchange detects both.
struct RestoreMarker {
    let mark: UInt64
    /// The number of this host's store when it wrote the mark, followed by its former numbers.
    let writers: [WriterID]

    init(mark: UInt64, writers: [WriterID]) {
        self.mark = mark
        self.writers = writers
    }

    /// Reads the mark of a mirror. Returns nil if there is none, and throws if it cannot be read.
    init?(of mirror: MirrorID, in places: MirrorPlaces) throws(SystemFailure) {
        guard let path = places.mark(of: mirror),
            let bytes = try places.system.fileSystem.contents(of: path, limit: 1 << 16)
        else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let writers = words.dropFirst().compactMap { WriterID($0) }
        guard let mark = words.first.flatMap({ UInt64($0, radix: 16) }), !writers.isEmpty else { return nil }
        self.init(mark: mark, writers: writers)
    }

    func write(of mirror: MirrorID, in places: MirrorPlaces) throws(SystemFailure) {
        guard let path = places.mark(of: mirror) else { return }
        let words = [String(mark, radix: 16)] + writers.map(\.description)
        let line = words.joined(separator: " ") + "\n"
        try places.system.fileSystem.makeFolders(path.parent)
        do throws(SystemFailure) {
            try places.system.fileSystem.replace(path, with: Array(line.utf8))
        } catch {
            // The temporary file has another name each time, which would make each failure look new.
            throw SystemFailure(error.code, error.operation, path)
        }
    }
}
