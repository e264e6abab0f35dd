/// The encoder of one value, and the container that the value asks it for.
///
/// A node is used again for the next value once nobody else holds it. What a caller does with a node too late, or
/// against the rules, is remembered as a problem and thrown where the value ends; it never traps.
final class EncodingNode {
    /// The step from a node to a value inside it.
    enum Step {
        /// The value of the node itself.
        case itself
        case key(String)
        case index(Int)
    }

    enum Content { case nothing, null, single, keyed, unkeyed, finished }

    /// Belongs to the root, which lives as long as any node below it.
    unowned(unsafe) let session: EncodingSession
    private let owned: EncodingSession?

    // No access to these calls anything that could access them again, so Swift need not check that.
    @exclusivity(unchecked) private(set) var parent: EncodingNode?
    @exclusivity(unchecked) private(set) var step = Step.itself
    @exclusivity(unchecked) private var depth = 0
    @exclusivity(unchecked) private var content = Content.nothing
    @exclusivity(unchecked) private var single = PropertyList.boolean(false)
    @exclusivity(unchecked) private var entries: ContiguousArray<PropertyList.Dictionary.Entry> = []
    @exclusivity(unchecked) private var elements: [PropertyList] = []
    /// The shape that the entries have had so far; nil where they have none.
    @exclusivity(unchecked) private var shape: KeyShape?
    /// Whether the entries so far have the keys of the shape.
    @exclusivity(unchecked) private var hasShape = false
    /// Nested containers and encoders, which are filled while this one is.
    @exclusivity(unchecked) private var pending: [(position: Int, node: EncodingNode)] = []
    @exclusivity(unchecked) private var problem: EncodingProblem?

    init(rootOf session: EncodingSession) { (self.session, owned) = (session, session) }

    init(session: EncodingSession) { (self.session, owned) = (session, nil) }
}

// MARK: Values

extension EncodingNode {
    /// The value that `value` encodes itself as, or nil where it is a nil.
    func encode<T: Encodable>(_ value: T, as step: Step) throws -> PropertyList? {
        guard let strategy = session.strategy(for: T.self) else { return try encodeItself(value, as: step) }
        return try strategy.encode(value, self, step)
    }

    @inline(never)
    private func encodeItself<T: Encodable>(_ value: T, as step: Step) throws -> PropertyList? {
        try inside(value, at: step) { node in
            try value.encode(to: node)
            return try node.finish()
        }
    }

    /// Runs `body` with the encoder of a `value` at `step`.
    @inline(__always)
    func inside<T>(
        _ value: T, at step: Step, _ body: (EncodingNode) throws -> PropertyList?
    ) throws -> PropertyList? {
        guard depth < mostCodingLevels else { throw invalid(value, as: step, .nestedTooDeeply) }
        var node = session.takeNode()
        node.begin(in: self, at: step)
        do {
            let result = try body(node)
            if isKnownUniquelyReferenced(&node) { session.giveBack(node) }
            return result
        } catch {
            node.abandon()
            if let problem = error as? EncodingProblem { throw invalid(value, as: step, problem) }
            throw error
        }
    }

    private func begin(in parent: EncodingNode, at step: Step) {
        self.parent = parent
        self.step = step
        depth = parent.depth + 1
    }

    /// What was encoded; the node is then empty.
    private func finish() throws -> PropertyList? {
        if let problem { throw problem }
        defer { content = .finished }
        switch content {
        case .nothing, .finished: throw EncodingProblem.nothing
        case .null: return nil
        case .single: return single
        case .keyed: return .dictionary(try finishedDictionary())
        case .unkeyed: return .array(try finishedArray())
        }
    }

    private func finishedDictionary() throws -> PropertyList.Dictionary {
        if !pending.isEmpty { try finishPending() }
        let entries = exchange(&self.entries, for: [])
        guard let shape = exchange(&self.shape, for: nil) else {
            return PropertyList.Dictionary(read: entries, areSorted: false) { _ in }
        }
        return shape.dictionary(of: entries, haveShape: hasShape)
    }

    private func finishedArray() throws -> [PropertyList] {
        if !pending.isEmpty { try finishPending() }
        return exchange(&elements, for: [])
    }

    private func finishPending() throws {
        for (position, node) in exchange(&pending, for: []).reversed() {
            // The encoder of a superclass that has nothing to encode is not asked for a container.
            let value = node.content == .nothing && node.problem == nil ? .dictionary([:]) : try node.finish()
            if content == .unkeyed {
                guard let value else { throw EncodingProblem.null }
                elements[position] = value
            } else if let value {
                entries[position] = .init(key: entries[position].key, value: value)
            } else {
                entries.remove(at: position)
                hasShape = false
            }
        }
    }

    /// Lets go of the nodes inside, which hold this one.
    private func abandon() {
        content = .finished
        for (_, node) in exchange(&pending, for: []) { node.abandon() }
    }

    func reset() {
        parent = nil
        step = .itself
        content = .nothing
        single = .boolean(false)
    }
}

// MARK: Containers

extension EncodingNode {
    var count: Int { elements.count }

    /// Puts a value under a key.
    @inline(__always)
    func add(_ value: consuming PropertyList, _ key: consuming String) {
        if hasShape, shape?.hasKey(key, at: entries.count) == false { hasShape = false }
        entries.append(.init(key: key, value: value))
    }

    @inline(__always)
    func append(_ value: consuming PropertyList) { elements.append(value) }

    /// For how many entries there is room at first in a container of which nothing is known.
    private static var fewestEntries: Int { 12 }

    func reserve(_ count: Int) { elements.reserveCapacity(count) }

    /// Begins the container or the value that the content is to be, unless it is already something else.
    func begin(_ kind: Content) {
        if content == .nothing {
            content = kind
        } else if content != kind || kind == .single {
            problem = problem ?? .twice
        }
    }

    func beginKeyed<Key: CodingKey>(_ type: Key.Type) {
        begin(.keyed)
        guard entries.isEmpty, shape == nil else { return }
        let shape = session.shape(of: type)
        entries.reserveCapacity(max(shape.count, Self.fewestEntries))
        hasShape = true
        self.shape = shape
    }

    /// The node of something inside this container that is filled later.
    func pendingNode(at step: Step) -> EncodingNode {
        guard depth < mostCodingLevels else {
            problem = problem ?? .nestedTooDeeply
            return self
        }
        let node = EncodingNode(session: session)
        node.begin(in: self, at: step)
        guard content != .finished else { return node }
        switch step {
        case .key(let key):
            pending.append((entries.count, node))
            add(.boolean(false), key)
        default:
            pending.append((elements.count, node))
            append(.boolean(false))
        }
        return node
    }

    func setSingle(_ value: consuming PropertyList?) {
        begin(value == nil ? .null : .single)
        if let value { single = value }
    }
}

/// Puts `replacement` into a variable and returns what was there.
@inline(__always)
private func exchange<Value>(_ variable: inout Value, for replacement: consuming Value) -> Value {
    let former = variable
    variable = replacement
    return former
}
