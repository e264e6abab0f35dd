/// A file that was read and waits for files before it.
struct WaitingFile: Sendable {
    /// The time at which it was first read.
    var since: Int64
    /// The position among its writer's logs, or nil if the file is not a log.
    let link: ChainLink?
    /// The contents, or nil if there was no room to keep them. The file is then read again when it is due.
    var pack: Pack?

    init(_ pack: Pack, since: Int64) {
        self.since = since
        if case .log(let log) = pack.content { link = ChainLink(log, hash: pack.hash) } else { link = nil }
        self.pack = pack
    }
}
