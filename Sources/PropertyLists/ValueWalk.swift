/// A format's writer, which receives the events of a walk over a value.
protocol ValueSink: ~Copyable {
    /// Receives a scalar.
    mutating func add(scalar: borrowing PropertyList) throws(Refusal)
    mutating func begin(_ container: ContainerShape) throws(Refusal)
    /// Receives all keys of the innermost dictionary, for a format that stores them before the values.
    mutating func addKeys(of entries: Span<PropertyList.Dictionary.Entry>)
    /// Receives the key of the next value.
    mutating func addKey(_ key: borrowing String, isFirst: Bool) throws(Refusal)
    /// Called before each element of an array.
    mutating func beginElement(isFirst: Bool)
    /// Called after each element of an array and each value of a dictionary.
    mutating func endElement(inDictionary: Bool)
    mutating func end(_ container: ContainerShape)
    /// The kind that a reader would take this dictionary for, or nil if it is read as a dictionary.
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind?
}

extension ValueSink where Self: ~Copyable {
    mutating func addKeys(of entries: Span<PropertyList.Dictionary.Entry>) {}
    mutating func beginElement(isFirst: Bool) {}
    mutating func endElement(inDictionary: Bool) {}
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? { nil }
}

struct ContainerShape {
    let isDictionary: Bool
    let count: Int

    var isEmpty: Bool { count == 0 }
}

/// The problem that stopped a writer. The walk adds the path.
struct Refusal: Error {
    let problem: EncodingFailure.Problem

    init(_ problem: EncodingFailure.Problem) { self.problem = problem }
}

/// A walk over a value that keeps the open containers in an array, so that deep nesting cannot exhaust the thread's
/// stack.
struct ValueWalk {
    private enum Children {
        case array([PropertyList])
        case dictionary(ContiguousArray<PropertyList.Dictionary.Entry>)
    }

    private struct Frame {
        let children: Children
        /// The index of the next child.
        var next = 0

        var shape: ContainerShape {
            switch children {
            case .array(let elements): ContainerShape(isDictionary: false, count: elements.count)
            case .dictionary(let entries): ContainerShape(isDictionary: true, count: entries.count)
            }
        }
    }

    private var frames: [Frame] = []
    /// The number of values and keys in the open and complete containers, plus the root, as a reader counts them.
    private var values = 1
    private let options: PropertyList.WritingOptions

    /// Passes `value` and everything inside it to `sink`, each container before its contents.
    static func walk(
        _ value: PropertyList, into sink: inout some ValueSink & ~Copyable, options: PropertyList.WritingOptions,
        format: PropertyList.Format
    ) throws(EncodingFailure) {
        var walk = ValueWalk(options: options)
        do throws(Refusal) {
            try walk.run(value, into: &sink)
        } catch {
            throw EncodingFailure(error.problem, path: walk.path, format: format)
        }
    }

    private init(options: PropertyList.WritingOptions) { self.options = options }

    private mutating func run(_ root: PropertyList, into sink: inout some ValueSink & ~Copyable) throws(Refusal) {
        guard root.isContainer else { return try sink.add(scalar: root) }
        try open(root, into: &sink)
        while let last = frames.indices.last {
            if let container = try addScalars(of: last, into: &sink) {
                try open(container, into: &sink)
                continue
            }
            sink.end(frames[last].shape)
            frames.removeLast()
            if let parent = frames.last { sink.endElement(inDictionary: parent.shape.isDictionary) }
        }
    }

    private mutating func open(_ value: PropertyList, into sink: inout some ValueSink & ~Copyable) throws(Refusal) {
        let frame: Frame
        switch value {
        case .array(let elements): frame = Frame(children: .array(elements))
        case .dictionary(let dictionary):
            if let kind = sink.mistakenKind(of: dictionary) { throw Refusal(.looksLike(kind)) }
            let entries = options.keepsKeyOrder ? dictionary.entries : dictionary.sortedEntries
            frame = Frame(children: .dictionary(entries))
        default: return
        }
        let limits = options.limits
        guard frames.count < limits.nesting else { throw Refusal(.nestedTooDeeply(limit: limits.nesting)) }
        values += frame.shape.isDictionary ? 2 * frame.shape.count : frame.shape.count
        guard values <= limits.expandedNodes else { throw Refusal(.tooManyValues(limit: limits.expandedNodes)) }
        try sink.begin(frame.shape)
        if case .dictionary(let entries) = frame.children { sink.addKeys(of: entries.span) }
        frames.append(frame)
    }

    /// Passes the next children to `sink`, up to a container. Returns that container, or nil after the last child.
    private mutating func addScalars(
        of last: Int, into sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) -> PropertyList? {
        var next = frames[last].next
        defer { frames[last].next = next }
        switch frames[last].children {
        case .array(let elements):
            let elements = elements.span
            while next < elements.count {
                let place = next
                next += 1
                sink.beginElement(isFirst: place == 0)
                let isScalar = try elements.withElement(at: place) { element throws(Refusal) in
                    if element.isContainer { return false }
                    try sink.add(scalar: element)
                    return true
                }
                guard isScalar else { return elements[place] }
                sink.endElement(inDictionary: false)
            }
        case .dictionary(let entries):
            let entries = entries.span
            while next < entries.count {
                let place = next
                next += 1
                let isScalar = try entries.withElement(at: place) { entry throws(Refusal) in
                    try sink.addKey(entry.key, isFirst: place == 0)
                    if entry.value.isContainer { return false }
                    try sink.add(scalar: entry.value)
                    return true
                }
                guard isScalar else { return entries[place].value }
                sink.endElement(inDictionary: true)
            }
        }
        return nil
    }

    /// The path to the entry that is being written.
    private var path: EntryPath {
        EntryPath(
            frames.compactMap { frame in
                guard frame.next > 0 else { return nil }
                switch frame.children {
                case .array: return EntryPath.Component(frame.next - 1)
                case .dictionary(let entries): return EntryPath.Component(entries[frame.next - 1].key)
                }
            })
    }
}

extension Span where Element: ~Copyable {
    /// Passes the element to `body` in place.
    ///
    /// Because the element need not be copyable, the compiler does not retain it, as it does in `body(span[place])`.
    func withElement<Result, Failure: Error>(
        at place: Int, _ body: (borrowing Element) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(self[place])
    }
}
