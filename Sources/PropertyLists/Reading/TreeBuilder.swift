/// Builds a value from the events of a text: the children of all open containers lie on one stack.
///
/// The stack stands in for recursion, so that the depth of the input never meets the end of a thread's stack.
struct TreeBuilder: ~Copyable {
    private typealias Entry = PropertyList.Dictionary.Entry

    /// A container whose end has not been read.
    private struct Frame {
        var firstValue: Int
        /// Where its keys begin on their stack; −1 in an array.
        var firstKey: Int
        /// Whether each key so far stands before the next.
        var keysAscend = true
        /// The bytes of the last key, where they lie in the input.
        var lastKey = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    }

    private var values = Stack<PropertyList>()
    private var keys = Stack<String>()
    /// Where each key on the stack was read; kept only if a duplicate is to be reported.
    private var keyOffsets: [Int] = []
    /// Which of the values on the stack stand for none, because duplicates are to be reported.
    private var dropped: [Int] = []
    private var enclosing: [Frame] = []
    private var frame = Frame(firstValue: 0, firstKey: -1)
    private(set) var depth = 0
    /// Whether a key is being read, so that no value is to blame for a failure.
    var isInKey = false

    private let nesting: Int
    private let refusesDuplicates: Bool

    init(limits: PropertyList.Limits, options: PropertyList.ReadingOptions) {
        nesting = limits.nesting
        refusesDuplicates = options.refusesDuplicateKeys
    }

    @inline(__always)
    var isInDictionary: Bool { frame.firstKey >= 0 }

    /// Whether the innermost dictionary has a key whose value is still to come.
    @inline(__always)
    var awaitsValue: Bool { keys.count - frame.firstKey > values.count - frame.firstValue }

    /// How many children the innermost container has so far.
    @inline(__always)
    var childCount: Int { values.count - frame.firstValue }

    /// The value last finished.
    var last: PropertyList { values[values.count - 1] }

    /// The key last read.
    var lastKey: String { keys[keys.count - 1] }

    @inline(__always)
    mutating func add(_ value: consuming PropertyList) { values.push(value) }

    /// Adds a key. `bytes` are its own, where they lie in the input, which outlives the builder.
    @inline(__always)
    mutating func addKey(_ key: consuming String, bytes: UnsafeBufferPointer<UInt8>?, at offset: Int) {
        if refusesDuplicates { keyOffsets.append(offset) }
        if keys.count > frame.firstKey, frame.keysAscend {
            if let bytes, frame.lastKey.baseAddress != nil {
                frame.keysAscend = isBefore(frame.lastKey, bytes)
            } else {
                frame.keysAscend = keys[keys.count - 1].isBefore(key)
            }
        }
        frame.lastKey = bytes ?? UnsafeBufferPointer(start: nil, count: 0)
        keys.push(key)
    }

    @inline(__always)
    mutating func begin(dictionary: Bool, at offset: Int) throws(Fault) {
        guard depth < nesting else { throw Fault(.nestedTooDeeply(limit: nesting), at: offset) }
        depth += 1
        enclosing.append(frame)
        frame = Frame(firstValue: values.count, firstKey: dictionary ? keys.count : -1)
    }

    /// Makes room for the children of the container that was begun last.
    mutating func reserve(_ children: Int) {
        values.reserve(children)
        if isInDictionary { keys.reserve(children) }
    }

    mutating func endArray() {
        let elements = values.popArray(from: frame.firstValue)
        leave()
        values.push(.array(elements))
    }

    mutating func endDictionary() throws(Fault) {
        let dictionary = try popDictionary()
        leave()
        values.push(.dictionary(dictionary))
    }

    /// Like `endDictionary`, but what stands in its place is up to `replace`.
    mutating func endDictionary(
        replacing replace: (PropertyList.Dictionary) throws(Fault) -> PropertyList
    ) throws(Fault) {
        let value = try replace(popDictionary())
        leave()
        values.push(value)
    }

    @inline(__always)
    private mutating func leave() {
        depth -= 1
        frame = enclosing.removeLast()
    }

    private mutating func popDictionary() throws(Fault) -> PropertyList.Dictionary {
        let count = values.count - frame.firstValue
        let entries = popEntries(count)
        var firstDuplicate: Int?
        var dictionary = PropertyList.Dictionary(read: entries, areSorted: frame.keysAscend) { position in
            if firstDuplicate == nil { firstDuplicate = position }
        }
        if refusesDuplicates {
            if let firstDuplicate {
                throw Fault(.duplicateKey(entries[firstDuplicate].key), at: keyOffsets[frame.firstKey + firstDuplicate])
            }
            keyOffsets.removeLast(count)
            var gone = PropertyList.Dictionary()
            while let last = dropped.last, last >= frame.firstValue {
                gone[entries[last - frame.firstValue].key] = .boolean(true)
                dropped.removeLast()
            }
            if !gone.isEmpty { dictionary.removeAll { gone[$0.key] != nil } }
        }
        return dictionary
    }

    /// Moves the last `count` keys and values off their stacks.
    private mutating func popEntries(_ count: Int) -> ContiguousArray<Entry> {
        var entries = ContiguousArray<Entry>()
        keys.pop(count) { keys in
            values.pop(count) { values in
                func entry(_ at: Int) -> Entry { Entry(key: (keys + at).move(), value: (values + at).move()) }
                if count <= fewElements {
                    entries.reserveCapacity(count)
                    for at in 0..<count { entries.append(entry(at)) }
                } else {
                    entries = ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
                        for at in 0..<count { (buffer.baseAddress! + at).initialize(to: entry(at)) }
                        initialized = count
                    }
                }
            }
        }
        return entries
    }

    /// Drops the last value, which turned out to be at fault.
    mutating func dropValue() { values.pop(1) { _ = $0.move() } }

    /// Drops the last key, whose value is not to be kept.
    mutating func dropKey() {
        guard refusesDuplicates else { return keys.pop(1) { _ = $0.move() } }
        // It stays until it is known whether it stands there twice.
        dropped.append(values.count)
        values.push(.boolean(false))
    }

    /// The finished value.
    mutating func finish() -> PropertyList {
        var root: PropertyList = .boolean(false)
        values.pop(1) { root = $0.move() }
        return root
    }

    /// The way to the entry that is being read.
    var path: EntryPath {
        guard depth > 0 else { return EntryPath() }
        let open = Array(enclosing.dropFirst()) + [frame]
        var components: [EntryPath.Component] = []
        for (level, frame) in open.enumerated() {
            let isInnermost = level == open.count - 1
            let child = (isInnermost ? values.count : open[level + 1].firstValue) - frame.firstValue
            if frame.firstKey < 0 {
                components.append(EntryPath.Component(child))
            } else if frame.firstKey + child < keys.count, !(isInnermost && isInKey) {
                components.append(EntryPath.Component(keys[frame.firstKey + child]))
            }
        }
        return EntryPath(components)
    }
}
