/// Why a writer stopped, before anybody asks at which entry.
struct Refusal: Error {
    let problem: EncodingFailure.Problem

    init(_ problem: EncodingFailure.Problem) { self.problem = problem }
}

/// What a text format makes of the events of a walk over a value.
protocol ValueSink: ~Copyable {
    /// Takes a value that is no container.
    mutating func add(scalar: borrowing PropertyList) throws(Refusal)
    mutating func begin(_ container: ContainerShape) throws(Refusal)
    /// Whether a dictionary's keys stand before its values.
    static var takesKeysFirst: Bool { get }
    /// Takes all keys of the dictionary that was begun last, where they stand before its values.
    mutating func addKeys(of entries: ContiguousArray<PropertyList.Dictionary.Entry>)
    /// Takes the key of the value that follows.
    mutating func addKey(_ key: borrowing String, isFirst: Bool) throws(Refusal)
    /// An element of an array follows.
    mutating func beginElement(isFirst: Bool)
    /// An element of an array, or the value behind a key, is complete.
    mutating func endElement(inDictionary: Bool)
    mutating func end(_ container: ContainerShape)
    /// What a dictionary of this shape would be mistaken for by a reader.
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind?
}

extension ValueSink where Self: ~Copyable {
    static var takesKeysFirst: Bool { false }
    mutating func addKeys(of entries: ContiguousArray<PropertyList.Dictionary.Entry>) {}
    mutating func beginElement(isFirst: Bool) {}
    mutating func endElement(inDictionary: Bool) {}
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? { nil }
}

struct ContainerShape {
    let isDictionary: Bool
    let count: Int

    var isEmpty: Bool { count == 0 }
}

/// A walk over a value that keeps the open containers in an array, so that no depth exhausts a thread's stack.
struct ValueWalk {
    private enum Children {
        case array([PropertyList])
        case dictionary(ContiguousArray<PropertyList.Dictionary.Entry>)
    }

    private struct Frame {
        let children: Children
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
    private let options: PropertyList.WritingOptions

    /// Tells `sink` all of `value`, from the outside in.
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
            if let container = try takeScalars(of: last, into: &sink) {
                try open(container, into: &sink)
            } else {
                sink.end(frames[last].shape)
                frames.removeLast()
                if let parent = frames.last { sink.endElement(inDictionary: parent.shape.isDictionary) }
            }
        }
    }

    private mutating func open<Sink: ValueSink & ~Copyable>(
        _ value: PropertyList, into sink: inout Sink
    ) throws(Refusal) {
        let children: Children
        if case .dictionary(let dictionary) = value {
            if let kind = sink.mistakenKind(of: dictionary) { throw Refusal(.looksLike(kind)) }
            children = .dictionary(options.keepsKeyOrder ? dictionary.entries : dictionary.sortedEntries)
        } else if case .array(let elements) = value {
            children = .array(elements)
        } else {
            return
        }
        guard frames.count < options.nesting else { throw Refusal(.nestedTooDeeply(limit: options.nesting)) }
        let frame = Frame(children: children)
        try sink.begin(frame.shape)
        if Sink.takesKeysFirst, case .dictionary(let entries) = children { sink.addKeys(of: entries) }
        frames.append(frame)
    }

    /// Passes on the children up to the next container, which is returned; nil at the end.
    @inline(__always)
    private mutating func takeScalars(
        of last: Int, into sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) -> PropertyList? {
        var next = frames[last].next
        defer { frames[last].next = next }
        switch frames[last].children {
        case .array(let elements):
            return try elements.withUnsafeBufferPointer { elements throws(Refusal) in
                try Self.takeElements(elements, from: &next, into: &sink)
            }
        case .dictionary(let entries):
            return try entries.withUnsafeBufferPointer { entries throws(Refusal) in
                try Self.takeEntries(entries, from: &next, into: &sink)
            }
        }
    }

    @inline(__always)
    private static func takeElements(
        _ elements: UnsafeBufferPointer<PropertyList>, from next: inout Int,
        into sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) -> PropertyList? {
        while next < elements.count {
            let at = next
            sink.beginElement(isFirst: at == 0)
            next += 1
            let isScalar = try elements.lent(at) { element throws(Refusal) in try element.add(to: &sink) }
            if !isScalar { return elements[at] }
            sink.endElement(inDictionary: false)
        }
        return nil
    }

    @inline(__always)
    private static func takeEntries(
        _ entries: UnsafeBufferPointer<PropertyList.Dictionary.Entry>, from next: inout Int,
        into sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) -> PropertyList? {
        while next < entries.count {
            let at = next
            next += 1
            let isScalar = try entries.lent(at) { entry throws(Refusal) in
                try entry.add(to: &sink, isFirst: at == 0)
            }
            if !isScalar { return entries[at].value }
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

/// A value where it lies: what is not copyable can be looked at without being retained.
private struct Lent<Value>: ~Copyable {
    let value: Value
}

extension UnsafeBufferPointer {
    /// Runs `body` on the element at `position`, which whoever owns it keeps as it is meanwhile.
    @inline(__always)
    fileprivate func lent<Result, Failure: Error>(
        _ position: Int, _ body: (borrowing Lent<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(indices.contains(position))
        // A struct of one property is laid out as that property.
        return try UnsafeRawPointer(baseAddress! + position).withMemoryRebound(
            to: Lent<Element>.self, capacity: 1
        ) { lent throws(Failure) in try body(lent.pointee) }
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
