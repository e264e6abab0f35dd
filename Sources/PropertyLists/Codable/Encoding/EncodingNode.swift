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
    /// What is remembered of such dictionaries.
    @exclusivity(unchecked) private var shape: KeyShape?
    /// The dictionary whose keys the entries may turn out to have.
    @exclusivity(unchecked) private var model = PropertyList.Dictionary()
    /// Whether the entries so far have the keys of the model.
    @exclusivity(unchecked) private var followsModel = false
    /// Keys that were left out, and how many entries there were before.
    @exclusivity(unchecked) private var omitted: [(position: Int, key: String)] = []
    /// Nested containers and encoders, which are filled while this one is.
    @exclusivity(unchecked) private var pending: [(position: Int, node: EncodingNode)] = []
    /// Where the nested containers under keys stand among those, as far as nothing was put under their keys since.
    @exclusivity(unchecked) private var nested = PropertyList.Dictionary()
    @exclusivity(unchecked) private var problem: EncodingProblem?

    init(rootOf session: EncodingSession) { (self.session, owned) = (session, session) }

    init(session: EncodingSession) { (self.session, owned) = (session, nil) }
}

// MARK: Values

extension EncodingNode {
    /// The value that `value` encodes itself as, or nil where it is a nil.
    func encode<T: Encodable>(_ value: T, as step: Step) throws -> PropertyList? {
        try checkDepth()
        guard let strategy = session.strategy(for: T.self) else { return try encodeItself(value, as: step) }
        return try strategy.encode(value, self, step)
    }

    @inline(never)
    private func encodeItself<T: Encodable>(_ value: T, as step: Step) throws -> PropertyList? {
        try inside(value, at: step) { node in
            try value.encode(to: ValueEncoder(node: node))
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
        let (entries, model) = (exchange(&self.entries, for: []), exchange(&self.model, for: [:]))
        let shape = exchange(&self.shape, for: nil)
        if followsModel, entries.count == model.count, omitted.isEmpty {
            shape?.confirm()
            return PropertyList.Dictionary(entries, withKeysOf: model)
        }
        var dictionary = PropertyList.Dictionary(read: entries, areSorted: false) { _ in }
        let omitted = exchange(&self.omitted, for: []).filter { dictionary.position(of: $0.key) != nil }
        if !omitted.isEmpty { dictionary.remove(omitted, from: entries) }
        shape?.learn(dictionary)
        return dictionary
    }

    private func finishedArray() throws -> [PropertyList] {
        if !pending.isEmpty { try finishPending() }
        return exchange(&elements, for: [])
    }

    private func finishPending() throws {
        let pending = exchange(&self.pending, for: [])
        nested = PropertyList.Dictionary()
        do {
            for (position, node) in pending { try finish(node, at: position) }
        } catch {
            for (_, node) in pending { node.abandon() }
            throw error
        }
    }

    private func finish(_ node: EncodingNode, at position: Int) throws {
        guard node.content != .nothing || node.problem != nil else {
            // The encoder of a superclass that has nothing to encode is not asked for a container.
            node.abandon()
            return put(.dictionary([:]), at: position)
        }
        if let value = try node.finish() {
            put(value, at: position)
        } else if content == .unkeyed {
            throw EncodingProblem.null
        } else {
            omitted.append((position + 1, entries[position].key))
        }
    }

    /// Puts a value in the place that was kept for it.
    private func put(_ value: PropertyList, at position: Int) {
        if content == .unkeyed {
            elements[position] = value
        } else {
            entries[position].value = value
        }
    }

    /// Lets go of the nodes inside, which hold this one.
    private func abandon() {
        content = .finished
        nested = PropertyList.Dictionary()
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
        if followsModel { followsModel = model.hasKey(key, at: entries.count) }
        if !nested.isEmpty { forgetNested(key) }
        entries.append(.init(key: key, value: value))
    }

    /// Leaves a key out, and what was put under it before.
    func omit(_ key: String) {
        if !nested.isEmpty { forgetNested(key) }
        omitted.append((entries.count, key))
    }

    @inline(never)
    private func forgetNested(_ key: String) {
        if nested.position(of: key) != nil { nested[key] = .boolean(false) }
    }

    /// Ends the encoding where it went too deep: to ask for a container does not throw.
    @inline(__always)
    func checkDepth() throws {
        if problem == .nestedTooDeeply { throw EncodingProblem.nestedTooDeeply }
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
        model = shape.model
        entries.reserveCapacity(max(model.count, Self.fewestEntries))
        followsModel = true
        self.shape = shape
    }

    /// The node of a container of this `kind` under a key; if there is one already, it is filled on.
    func nestedNode(_ kind: Content, forKey key: String) -> EncodingNode {
        if case .integer(let at)? = nested[key], let at = Int(exactly: at), pending[at].node.content == kind {
            return pending[at].node
        }
        let node = pendingNode(at: .key(key))
        if let last = pending.last, last.node === node { nested[key] = .integer(.init(pending.count - 1)) }
        return node
    }

    /// The node of something inside this container that is filled later.
    func pendingNode(at step: Step) -> EncodingNode {
        let position: Int
        if case .key(let key) = step {
            position = entries.count
            add(.boolean(false), key)
        } else {
            position = elements.count
            append(.boolean(false))
        }
        guard depth < mostCodingLevels else {
            problem = .nestedTooDeeply
            return self
        }
        let node = EncodingNode(session: session)
        node.begin(in: self, at: step)
        if content == .finished { node.content = .finished } else { pending.append((position, node)) }
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
