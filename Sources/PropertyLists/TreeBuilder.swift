// Unsafe: `Stack` owns its memory, and moves out only elements that it has removed from its count.

/// Builds a value from the events of a reader.
///
/// The children of all open containers are on a single stack in place of recursion, so that deeply nested input cannot
/// exhaust the thread's stack.
struct TreeBuilder: ~Copyable {
    private typealias Entry = PropertyList.Dictionary.Entry

    /// An open container.
    private struct Frame {
        var firstValue: Int
        /// The position of its first key on the stack of keys, or −1 in an array.
        var firstKey: Int
        /// Whether the keys so far are ascending.
        var keysAscend = true
        /// The range of the last key in the input, or empty if it is unknown.
        var lastKey = 0..<0
    }

    private var values = Stack<PropertyList>()
    private var keys = Stack<String>()
    /// The offset of each key on the stack, recorded only if duplicate keys are reported.
    private var keyOffsets: [Int] = []
    private var enclosing: [Frame] = []
    private var frame = Frame(firstValue: 0, firstKey: -1)
    private(set) var depth = 0
    /// Whether a key is being read, so that a failure is not in a value.
    var isInKey = false

    private let nesting: Int
    private let refusesDuplicates: Bool
    /// The treatment of nulls.
    let nulls: PropertyList.ReadingOptions.Nulls
    /// The source ranges of the values, if they are requested.
    var sources: SourceMap?

    init(limits: PropertyList.Limits, options: PropertyList.ReadingOptions) {
        nesting = limits.nesting
        refusesDuplicates = options.refusesDuplicateKeys
        nulls = options.nulls
    }

    var isInDictionary: Bool { frame.firstKey >= 0 }

    /// Whether the innermost dictionary has a key without a value.
    var awaitsValue: Bool { keys.count - frame.firstKey > values.count - frame.firstValue }

    /// The number of children that the innermost container has so far.
    var childCount: Int { values.count - frame.firstValue }

    /// The last complete value.
    var last: PropertyList { values[values.count - 1] }

    /// The last key.
    var lastKey: String { keys[keys.count - 1] }

    @inline(__always)
    mutating func add(_ value: consuming PropertyList) { values.push(value) }

    /// Adds a key. If `input` contains its exact bytes, comparing their position is faster than comparing strings.
    @inline(__always)
    mutating func addKey(_ key: consuming String, at offset: Int, in input: [UInt8], _ place: Range<Int>) {
        if refusesDuplicates { keyOffsets.append(offset) }
        if frame.keysAscend, keys.count > frame.firstKey {
            frame.keysAscend =
                frame.lastKey.isEmpty || place.isEmpty
                ? keys[keys.count - 1].isBefore(key)
                : input.span.extracting(frame.lastKey).isBefore(input.span.extracting(place))
        }
        frame.lastKey = place
        keys.push(key)
    }

    mutating func addKey(_ key: consuming String, at offset: Int) { addKey(key, at: offset, in: [], 0..<0) }

    mutating func begin(dictionary: Bool, at offset: Int) throws(Fault) {
        guard depth < nesting else { throw Fault(.nestedTooDeeply(limit: nesting), at: offset) }
        if sources != nil {
            let component = component(ofChild: childCount)
            sources?.recordBegin(at: offset, as: component)
        }
        depth += 1
        enclosing.append(frame)
        frame = Frame(firstValue: values.count, firstKey: dictionary ? keys.count : -1)
    }

    /// Records the source of the last value, which is a scalar.
    mutating func record(_ source: Range<Int>) {
        guard sources != nil else { return }
        let component = component(ofChild: childCount - 1)
        sources?.recordValue(source, as: component)
    }

    private func component(ofChild index: Int) -> EntryPath.Component? {
        guard depth > 0 else { return nil }
        return isInDictionary ? EntryPath.Component(lastKey) : EntryPath.Component(index)
    }

    /// Makes room for the children of the innermost container.
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

    /// Like `endDictionary`, but adds the value that `replace` returns for the dictionary.
    mutating func endDictionary(
        replacing replace: (PropertyList.Dictionary) throws(Fault) -> PropertyList
    ) throws(Fault) {
        let value = try replace(popDictionary())
        leave()
        values.push(value)
    }

    private mutating func leave() {
        depth -= 1
        frame = enclosing.removeLast()
    }

    private mutating func popDictionary() throws(Fault) -> PropertyList.Dictionary {
        let count = values.count - frame.firstValue
        let entries = popEntries(count)
        var firstDuplicate: Int?
        let dictionary = PropertyList.Dictionary(read: entries, areSorted: frame.keysAscend) { position in
            if firstDuplicate == nil { firstDuplicate = position }
        }
        if refusesDuplicates {
            if let firstDuplicate {
                throw Fault(.duplicateKey(entries[firstDuplicate].key), at: keyOffsets[frame.firstKey + firstDuplicate])
            }
            keyOffsets.removeLast(count)
        }
        return dictionary
    }

    /// Moves the last `count` keys and values off their stacks.
    private mutating func popEntries(_ count: Int) -> ContiguousArray<Entry> {
        var entries = ContiguousArray<Entry>()
        unsafe keys.pop(count) { keys in
            unsafe values.pop(count) { values in
                func entry(_ at: Int) -> Entry { unsafe Entry(key: (keys + at).move(), value: (values + at).move()) }
                if count <= fewElements {
                    entries.reserveCapacity(count)
                    for at in 0..<count { entries.append(entry(at)) }
                } else {
                    entries = unsafe ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
                        for at in 0..<count { unsafe (buffer.baseAddress! + at).initialize(to: entry(at)) }
                        initialized = count
                    }
                }
            }
        }
        return entries
    }

    /// Removes the last value, which is invalid.
    mutating func dropValue() { unsafe values.pop(1) { _ = unsafe $0.move() } }

    /// Returns the complete value.
    mutating func finish() -> PropertyList {
        var root: PropertyList = .boolean(false)
        unsafe values.pop(1) { root = unsafe $0.move() }
        return root
    }

    /// The path to the entry that is being read.
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

/// The number of elements up to which appending to an empty array is faster than allocating an array of a given size.
///
/// Such an allocation looks up the array's type at run time, which takes as long as twenty appends.
let fewElements = 24

/// A stack whose elements are moved out instead of copied.
@safe struct Stack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity = 32

    init() { unsafe base = .allocate(capacity: capacity) }

    deinit {
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }

    subscript(position: Int) -> Element {
        @inline(__always) unsafeAddress {
            precondition(position >= 0 && position < count)
            return unsafe UnsafePointer(base + position)
        }
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    /// Makes room for `additional` elements.
    mutating func reserve(_ additional: Int) {
        if capacity - count < additional { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int = 1) {
        // Grows in few, large steps: unused pages cost nothing, but copied pages are written twice.
        let larger = capacity < 1 << 20 ? capacity * 4 : capacity + capacity / 2
        capacity = max(larger, count + additional)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        unsafe moved.moveInitialize(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = unsafe moved
    }

    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return unsafe (base + count).move()
    }

    /// Pops the elements from `first` on.
    mutating func popArray(from first: Int) -> [Element] {
        let taken = count - first
        guard taken > 0 else { return [] }
        count = first
        if taken <= fewElements {
            var elements: [Element] = []
            elements.reserveCapacity(taken)
            for at in first..<first + taken { unsafe elements.append((base + at).move()) }
            return elements
        }
        return unsafe [Element](unsafeUninitializedCapacity: taken) { buffer, initialized in
            unsafe buffer.baseAddress!.moveInitialize(from: base + first, count: taken)
            initialized = taken
        }
    }

    /// Pops `taken` elements. `body` must move all of them out.
    mutating func pop(_ taken: Int, _ body: (UnsafeMutablePointer<Element>) -> Void) {
        precondition(taken <= count)
        count -= taken
        unsafe body(base + count)
    }
}
