/// What all containers of one encoding share: what the caller passed on, spare nodes, and what was learned of types.
final class EncodingSession {
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let strategies = TypeTable<AnyObject?>()
    private let shapes = TypeTable<KeyShape>()
    /// Nodes that nobody uses. No access calls anything that could access them again, so Swift need not check that.
    @exclusivity(unchecked) private var spareNodes: [EncodingNode] = []

    init(userInfo: [CodingUserInfoKey: any Sendable]) { self.userInfo = userInfo }

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

/// The keys that values of one type had the last time, with all that was computed from them.
///
/// Values of one type mostly have the same keys in the same order. Whether keys differ, and where each stands, is
/// then found out once.
final class KeyShape {
    /// A dictionary with these keys.
    @exclusivity(unchecked) private var model = PropertyList.Dictionary()
    /// How often values had other keys than the one before, or none was before.
    private var changes = 0

    /// The most keys that are remembered.
    private static var mostKeys: Int { 128 }
    /// The changes after which keys are remembered: not those of the only value of a type, nor ever new ones.
    private static var rememberedChanges: ClosedRange<Int> { 2...16 }

    @inline(__always)
    var count: Int { model.entries.count }

    @inline(__always)
    func hasKey(_ key: String, at position: Int) -> Bool {
        position < model.entries.count && model.entries[position].key.isSameKey(as: key)
    }

    /// The dictionary of these entries, which have the keys of the shape as far as they go if `haveShape` says so.
    func dictionary(
        of entries: consuming ContiguousArray<PropertyList.Dictionary.Entry>, haveShape: Bool
    ) -> PropertyList.Dictionary {
        if haveShape, entries.count == count { return PropertyList.Dictionary(entries, withKeysOf: model) }
        let dictionary = PropertyList.Dictionary(read: entries, areSorted: false) { _ in }
        changes += 1
        if dictionary.count <= Self.mostKeys, Self.rememberedChanges.contains(changes) {
            model = dictionary.model
        }
        return dictionary
    }
}
