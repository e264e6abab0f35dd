/// A file that was read and waits for those before it.
struct WaitingFile: Sendable {
    /// When it was first read.
    var since: Int64
    /// Where it stands among its writer's logs; nil if it is none.
    let link: ChainLink?
    /// What it says; nil where there was no room to keep that, so that it is read again when its turn has come.
    var pack: Pack?

    init(_ pack: Pack, since: Int64) {
        self.since = since
        if case .log(let log) = pack.content { link = ChainLink(log, hash: pack.hash) } else { link = nil }
        self.pack = pack
    }
}
