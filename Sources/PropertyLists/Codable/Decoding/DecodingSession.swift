/// What all containers of one decoding share: what the caller passed on, and what was learned about the types.
///
/// Safe to pass to another thread because only one decoding has it at a time.
final class DecodingSession: CodingSession, @unchecked Sendable {
    static let pool = SessionPool<DecodingSession>()

    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    private let strategies = TypeTable<AnyObject?>()
    private let orders = TypeTable<KeyOrder>()

    /// How values of `type` are decoded without a decoder of their own, or nil where they need one.
    @inline(__always)
    func strategy<T: Decodable>(for type: T.Type) -> DecodingStrategy<T>? {
        guard let strategy = strategies[type] ?? strategies.insert(decodingStrategy(for: type), for: type) else {
            return nil
        }
        return unsafeDowncast(strategy, to: DecodingStrategy<T>.self)
    }

    /// The order in which keys of `type` were found.
    @inline(__always)
    func order<Key: CodingKey>(of type: Key.Type) -> KeyOrder {
        if let known = orders[type] {
            known.isUsedAgain = true
            return known
        }
        return orders.insert(KeyOrder(), for: type)
    }
}
