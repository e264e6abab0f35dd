/// A walk over a value that keeps the open containers in an array, so that no depth exhausts a thread's stack.
///
/// The containers are not retained: the value at the root outlives the walk, and with it all that it holds; entries
/// that were sorted first belong to their frame. Nobody changes any of them meanwhile, and what an array holds stays
/// where it is.
struct ValueWalk {
    private enum Children {
        case array(UnsafeBufferPointer<PropertyList>)
        case dictionary(UnsafeBufferPointer<PropertyList.Dictionary.Entry>)
    }

    private struct Frame {
        let children: Children
        /// The entries, if they are not those of the dictionary itself.
        var sorted: ContiguousArray<PropertyList.Dictionary.Entry>?
        /// The child that comes next.
        var next = 0

        var shape: ContainerShape {
            switch children {
            case .array(let elements): ContainerShape(isDictionary: false, count: elements.count)
            case .dictionary(let entries): ContainerShape(isDictionary: true, count: entries.count)
            }
        }
    }

    private var frames: [Frame] = []
    /// The number of values and keys in the containers that were opened, and the root: what a reader counts.
    private var values = 1
    private let options: PropertyList.WritingOptions

    /// Tells `sink` all of `value`, from the outside in.
    static func walk(
        _ value: PropertyList, into sink: inout some ValueSink & ~Copyable, options: PropertyList.WritingOptions,
        format: PropertyList.Format
    ) throws(EncodingFailure) {
        defer { withExtendedLifetime(value) {} }
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
            if try openNext(in: last, into: &sink) { continue }
            sink.end(frames[last].shape)
            frames.removeLast()
            if let parent = frames.last { sink.endElement(inDictionary: parent.shape.isDictionary) }
        }
    }

    private mutating func open<Sink: ValueSink & ~Copyable>(
        _ value: PropertyList, into sink: inout Sink
    ) throws(Refusal) {
        let frame: Frame
        switch value {
        case .array(let elements): frame = Frame(children: .array(elements.withUnsafeBufferPointer { $0 }))
        case .dictionary(let dictionary):
            if let kind = sink.mistakenKind(of: dictionary) { throw Refusal(.looksLike(kind)) }
            frame = self.frame(for: dictionary)
        default: return
        }
        let limits = options.limits
        guard frames.count < limits.nesting else { throw Refusal(.nestedTooDeeply(limit: limits.nesting)) }
        values += frame.shape.isDictionary ? 2 * frame.shape.count : frame.shape.count
        guard values <= limits.expandedNodes else { throw Refusal(.tooManyValues(limit: limits.expandedNodes)) }
        try sink.begin(frame.shape)
        if Sink.takesKeysFirst, case .dictionary(let entries) = frame.children { sink.addKeys(of: entries) }
        frames.append(frame)
    }

    @inline(__always)
    private func frame(for dictionary: PropertyList.Dictionary) -> Frame {
        if !options.keepsKeyOrder, let sorted = dictionary.sortedAnew {
            return Frame(children: .dictionary(sorted.withUnsafeBufferPointer { $0 }), sorted: sorted)
        }
        return Frame(children: .dictionary(dictionary.entries.withUnsafeBufferPointer { $0 }))
    }

    /// Passes on the children up to the next container, and opens that; false at the end.
    @inline(__always)
    private mutating func openNext(in last: Int, into sink: inout some ValueSink & ~Copyable) throws(Refusal) -> Bool {
        switch frames[last].children {
        case .array(let elements):
            guard let at = try takeElements(elements, of: last, into: &sink) else { return false }
            try elements.lent(at) { element throws(Refusal) in try open(element.value, into: &sink) }
        case .dictionary(let entries):
            guard let at = try takeEntries(entries, of: last, into: &sink) else { return false }
            try entries.lent(at) { entry throws(Refusal) in try open(entry.value.value, into: &sink) }
        }
        return true
    }

    /// Passes on the scalars up to the next container, whose place is returned.
    @inline(__always)
    private mutating func takeElements(
        _ elements: UnsafeBufferPointer<PropertyList>, of last: Int, into sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) -> Int? {
        var next = frames[last].next
        defer { frames[last].next = next }
        while next < elements.count {
            let at = next
            sink.beginElement(isFirst: at == 0)
            next += 1
            let isScalar = try elements.lent(at) { element throws(Refusal) in try element.add(to: &sink) }
            if !isScalar { return at }
            sink.endElement(inDictionary: false)
        }
        return nil
    }

    /// Passes on keys and scalars up to the next container, whose place is returned.
    @inline(__always)
    private mutating func takeEntries(
        _ entries: UnsafeBufferPointer<PropertyList.Dictionary.Entry>, of last: Int,
        into sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) -> Int? {
        var next = frames[last].next
        defer { frames[last].next = next }
        while next < entries.count {
            let at = next
            next += 1
            let isScalar = try entries.lent(at) { entry throws(Refusal) in
                try entry.add(to: &sink, isFirst: at == 0)
            }
            if !isScalar { return at }
            sink.endElement(inDictionary: true)
        }
        return nil
    }

    /// The way to the entry that was being written.
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

extension Lent<PropertyList> {
    /// Whether the value is no container, and so was added.
    @inline(__always)
    borrowing func add(to sink: inout some ValueSink & ~Copyable) throws(Refusal) -> Bool {
        if value.isContainer { return false }
        try sink.add(scalar: value)
        return true
    }
}

extension Lent<PropertyList.Dictionary.Entry> {
    /// Adds the key, and the value unless it is a container; whether it is none.
    @inline(__always)
    borrowing func add(to sink: inout some ValueSink & ~Copyable, isFirst: Bool) throws(Refusal) -> Bool {
        try sink.addKey(value.key, isFirst: isFirst)
        if value.value.isContainer { return false }
        try sink.add(scalar: value.value)
        return true
    }
}
