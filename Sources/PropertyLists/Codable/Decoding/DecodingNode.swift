/// A container that is being decoded. What decodes its children knows it, and through it the way from the root.
///
/// There is one for each container of the value that a type looks into, and nothing else is allocated for it here.
class DecodingNode {
    /// The container around this one; nil at the root, which is an array of the one value.
    final let parent: DecodingNode?
    /// Where this container stands in its parent.
    final let position: Int
    final let depth: Int
    final let isKeyed: Bool
    final let dictionary: PropertyList.Dictionary
    final let elements: [PropertyList]
    /// Belongs to the root, which lives as long as any node below it.
    final unowned(unsafe) let session: DecodingSession
    private final let owned: DecodingSession?
    /// Where the keys of the type were found before, if a type asks by key.
    private final let order: KeyOrder?

    /// How many keys have been asked for.
    ///
    /// No access to it calls anything that could access it again, so Swift need not check that.
    @exclusivity(unchecked) private final var step = 0

    init(root value: PropertyList, session: DecodingSession) {
        (parent, position, depth, isKeyed) = (nil, 0, 0, false)
        (dictionary, elements) = (PropertyList.Dictionary(), [value])
        (self.session, owned, order) = (session, session, nil)
    }

    init(_ dictionary: PropertyList.Dictionary, at place: ValueDecoder, order: KeyOrder?) {
        (parent, position, depth, isKeyed) = (place.node, place.position, place.node.depth + 1, true)
        (self.dictionary, elements) = (dictionary, [])
        (session, owned, self.order) = (place.node.session, nil, order)
    }

    init(_ elements: [PropertyList], at place: ValueDecoder) {
        (parent, position, depth, isKeyed) = (place.node, place.position, place.node.depth + 1, false)
        (dictionary, self.elements) = (PropertyList.Dictionary(), elements)
        (session, owned, order) = (place.node.session, nil, nil)
    }

    fileprivate init(standingInFor node: DecodingNode) {
        (parent, position, depth, isKeyed) = (node.parent, node.position, node.depth, false)
        (dictionary, elements) = (PropertyList.Dictionary(), [])
        (session, owned, order) = (node.session, nil, nil)
    }

    /// The last step of the way to the child at `position`; none at the root.
    func pathKey(at position: Int) -> PathKey? {
        guard parent != nil else { return nil }
        return isKeyed ? PathKey(stringValue: dictionary.entries[position].key) : PathKey(intValue: position)
    }
}

extension DecodingNode {
    final var count: Int { isKeyed ? dictionary.entries.count : elements.count }

    /// The value of the child at `position`, or nil where there is none.
    @inline(__always)
    final func value(at position: Int) -> PropertyList? {
        if isKeyed { return position < dictionary.entries.count ? dictionary.entries[position].value : nil }
        return position < elements.count ? elements[position] : nil
    }

    /// Where `key` stands, or −1. It is looked for first where keys asked for at this point were found before.
    @inline(__always)
    final func position(of key: String) -> Int {
        let question = step
        step = question + 1
        let position = order?.position(at: question) ?? question
        if position < dictionary.entries.count, dictionary.entries[position].key.isIdentical(to: key) {
            return position
        }
        return search(key, question, position)
    }

    @inline(never)
    private func search(_ key: String, _ question: Int, _ position: Int) -> Int {
        key.withBytes { key in
            if position < dictionary.entries.count, dictionary.entries[position].key.hasBytes(key) { return position }
            guard let position = dictionary.position(of: key) else { return -1 }
            if let order, order.isUsedAgain { order.learn(position, at: question) }
            return position
        }
    }

    /// The way from the root to the child at `position`.
    final func path(to position: Int) -> [any CodingKey] {
        var path = parent?.path(to: self.position) ?? []
        if let key = pathKey(at: position) { path.append(key) }
        return path
    }

    /// The way from the root to this container.
    final var path: [any CodingKey] { parent?.path(to: position) ?? [] }
}

/// Stands in for a value that is missing, so that what asks for it can be told where it looked.
final class MissingNode: DecodingNode {
    private let key: PathKey

    init(_ key: some CodingKey, in node: DecodingNode) {
        self.key = PathKey(stringValue: key.stringValue)
        super.init(standingInFor: node)
    }

    override func pathKey(at position: Int) -> PathKey? { key }
}
