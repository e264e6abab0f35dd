import Synchronization

/// What one encoding or decoding knows beyond the value.
protocol CodingSession: AnyObject, Sendable {
    init()
    /// What the caller passed on to the types.
    var userInfo: [CodingUserInfoKey: any Sendable] { get set }
}

/// Sessions that nobody uses, with what they have learned of types, for the codings that come after.
struct SessionPool<Session: CodingSession>: ~Copyable, Sendable {
    private let idle = Mutex<[Session]>([])

    /// Mostly there are no more codings at a time.
    private static var mostIdle: Int { 4 }

    /// Runs `body` with a session that nobody else has.
    func code<Result>(
        _ userInfo: [CodingUserInfoKey: any Sendable], _ body: (Session) throws -> Result
    ) throws -> Result {
        var session = idle.withLock { $0.popLast() } ?? Session()
        session.userInfo = userInfo
        let result = try body(session)
        // A type may have kept a coder for later, and with it the session.
        if isKnownUniquelyReferenced(&session) { giveBack(session) }
        return result
    }

    private func giveBack(_ session: Session) {
        session.userInfo = [:]
        idle.withLock { if $0.count < Self.mostIdle { $0.append(session) } }
    }
}
