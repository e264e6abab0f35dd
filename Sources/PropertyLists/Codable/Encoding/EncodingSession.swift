/// What all containers of one encoding share: what the caller passed on, spare nodes, and what was learned of types.
///
/// Safe to pass to another thread because only one encoding has it at a time.
final class EncodingSession: CodingSession, @unchecked Sendable {
    static let pool = SessionPool<EncodingSession>()

    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    private let strategies = TypeTable<AnyObject?>()
    private let shapes = TypeTable<KeyShape>()
    /// Nodes that nobody uses. No access calls anything that could access them again, so Swift need not check that.
    @exclusivity(unchecked) private var spareNodes: [EncodingNode] = []

    /// How values of `type` are encoded without an encoder of their own, or nil where they need one.
    @inline(__always)
    func strategy<T: Encodable>(for type: T.Type) -> EncodingStrategy<T>? {
        guard let strategy = strategies[type] ?? strategies.insert(encodingStrategy(for: type), for: type) else {
            return nil
        }
        return unsafeDowncast(strategy, to: EncodingStrategy<T>.self)
    }

    /// The shape of dictionaries with keys of `type`.
    @inline(__always)
    func shape<Key: CodingKey>(of type: Key.Type) -> KeyShape {
        if let known = shapes[type] { return known }
        return shapes.insert(KeyShape(), for: type)
    }

    @inline(__always)
    func takeNode() -> EncodingNode { spareNodes.popLast() ?? EncodingNode(session: self) }

    @inline(__always)
    func giveBack(_ node: EncodingNode) {
        node.reset()
        spareNodes.append(node)
    }
}
