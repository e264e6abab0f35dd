internal import MirrorEngine
internal import Platform
internal import Preferences

/// A line beside the preference files, in a file for each mirror.
///
/// A backup of the files brings back an old mark, and a backup of the mirror's state leaves one that the state does not
/// know: either way the next exchange notices.
struct StoreMark {
    let mark: UInt64
    /// The number that this host's store had when it left the mark, then its former ones.
    let writers: [WriterID]

    init(mark: UInt64, writers: [WriterID]) {
        self.mark = mark
        self.writers = writers
    }

    /// The mark that is there; nil where there is none that can be read.
    init?(of mirror: MirrorID, in places: MirrorPlaces) {
        guard let path = places.mark(of: mirror),
            let bytes = (try? places.machine.fileSystem.contents(of: path, limit: 1 << 16)) ?? nil
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
        try places.machine.fileSystem.makeFolders(path.parent)
        try places.machine.fileSystem.replace(path, with: Array(line.utf8))
    }
}
