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

/// A walk over a value. It is recursive: keeping the open containers in an array takes a fourth more time for JSON, and
/// releasing the value is recursive too.
struct ValueWalk {
    private let options: PropertyList.WritingOptions
    /// The number of open containers.
    private var depth = 0
    /// The number of values and keys in the open and complete containers, plus the root, as a reader counts them.
    private var values = 1
    /// The path to the value that was refused, from the innermost component.
    private var refused: [EntryPath.Component] = []

    /// Passes `value` and everything inside it to `sink`, each container before its contents.
    static func walk(
        _ value: PropertyList, into sink: inout some ValueSink & ~Copyable, options: PropertyList.WritingOptions,
        format: PropertyList.Format
    ) throws(EncodingFailure) {
        var walk = ValueWalk(options: options)
        do throws(Refusal) {
            try walk.add(value, to: &sink)
        } catch {
            throw EncodingFailure(error.problem, path: EntryPath(walk.refused.reversed()), format: format)
        }
    }

    private init(options: PropertyList.WritingOptions) { self.options = options }

    private mutating func add(
        _ value: borrowing PropertyList, to sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) {
        switch value {
        case .array(let elements): try add(elements, to: &sink)
        case .dictionary(let dictionary): try add(dictionary, to: &sink)
        default: try sink.add(scalar: value)
        }
    }

    private mutating func add(
        _ elements: borrowing [PropertyList], to sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) {
        let shape = ContainerShape(isDictionary: false, count: elements.count)
        try open(shape, in: &sink)
        let elements = elements.span
        var place = 0
        do throws(Refusal) {
            while place < elements.count {
                sink.beginElement(isFirst: place == 0)
                try elements.withElement(at: place) { element throws(Refusal) in try add(element, to: &sink) }
                sink.endElement(inDictionary: false)
                place += 1
            }
        } catch {
            refused.append(EntryPath.Component(place))
            throw error
        }
        close(shape, in: &sink)
    }

    private mutating func add(
        _ dictionary: borrowing PropertyList.Dictionary, to sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) {
        if let kind = sink.mistakenKind(of: dictionary) { throw Refusal(.looksLike(kind)) }
        let sorted = options.keepsKeyOrder ? dictionary.entries : dictionary.sortedEntries
        let shape = ContainerShape(isDictionary: true, count: sorted.count)
        try open(shape, in: &sink)
        let entries = sorted.span
        sink.addKeys(of: entries)
        var place = 0
        do throws(Refusal) {
            while place < entries.count {
                try entries.withElement(at: place) { entry throws(Refusal) in
                    try sink.addKey(entry.key, isFirst: place == 0)
                    try add(entry.value, to: &sink)
                }
                sink.endElement(inDictionary: true)
                place += 1
            }
        } catch {
            refused.append(EntryPath.Component(entries[place].key))
            throw error
        }
        close(shape, in: &sink)
    }

    private mutating func open(
        _ shape: ContainerShape, in sink: inout some ValueSink & ~Copyable
    ) throws(Refusal) {
        let limits = options.limits
        guard depth < limits.nesting else { throw Refusal(.nestedTooDeeply(limit: limits.nesting)) }
        values += shape.isDictionary ? 2 * shape.count : shape.count
        guard values <= limits.expandedNodes else { throw Refusal(.tooManyValues(limit: limits.expandedNodes)) }
        try sink.begin(shape)
        depth += 1
    }

    private mutating func close(_ shape: ContainerShape, in sink: inout some ValueSink & ~Copyable) {
        depth -= 1
        sink.end(shape)
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
