// Unsafe: `Stack` owns its memory, and moves out only elements below its count, which it lowers first.

/// Builds a value from the events of a reader. The children of all open containers are on one stack.
///
/// The stack replaces recursion, so that no depth of the input exhausts a thread's stack.
struct TreeBuilder: ~Copyable {
    private typealias Entry = PropertyList.Dictionary.Entry

    /// An open container.
    private struct Frame {
        var firstValue: Int
        /// Where its keys begin on their stack; −1 in an array.
        var firstKey: Int
        /// Whether each key so far stands before the next.
        var keysAscend = true
    }

    private var values = Stack<PropertyList>()
    private var keys = Stack<String>()
    /// The offset of each key on the stack; recorded only if duplicate keys are to be reported.
    private var keyOffsets: [Int] = []
    /// The placeholders on the stack for omitted values, kept because duplicate keys are to be reported.
    private var dropped: [Int] = []
    private var enclosing: [Frame] = []
    private var frame = Frame(firstValue: 0, firstKey: -1)
    private(set) var depth = 0
    /// Whether a key is being read, so that a failure belongs to no value.
    var isInKey = false

    private let nesting: Int
    private let refusesDuplicates: Bool
    /// What becomes of a null.
    let nulls: PropertyList.ReadingOptions.Nulls
    /// The source ranges of the values, if they are requested.
    var sources: SourceMap?

    init(limits: PropertyList.Limits, options: PropertyList.ReadingOptions) {
        nesting = limits.nesting
        refusesDuplicates = options.refusesDuplicateKeys
        nulls = options.nulls
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

    mutating func addKey(_ key: consuming String, at offset: Int) {
        if refusesDuplicates { keyOffsets.append(offset) }
        if frame.keysAscend, keys.count > frame.firstKey { frame.keysAscend = keys[keys.count - 1].isBefore(key) }
        keys.push(key)
    }

    @inline(__always)
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

    /// Records the source of the value added last, which is no container.
    @inline(__always)
    mutating func record(_ source: Range<Int>) {
        guard sources != nil else { return }
        let component = component(ofChild: childCount - 1)
        sources?.recordValue(source, as: component)
    }

    private func component(ofChild index: Int) -> EntryPath.Component? {
        guard depth > 0 else { return nil }
        return isInDictionary ? EntryPath.Component(lastKey) : EntryPath.Component(index)
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

    /// Drops the last value, which is invalid.
    mutating func dropValue() { unsafe values.pop(1) { _ = unsafe $0.move() } }

    /// Drops the last key, whose value is not to be kept.
    mutating func dropKey() {
        guard refusesDuplicates else { return unsafe keys.pop(1) { _ = unsafe $0.move() } }
        // It stays until it is known whether it is a duplicate.
        dropped.append(values.count)
        values.push(.boolean(false))
    }

    /// The finished value.
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

/// Up to how many elements an array is made faster by appending them.
///
/// Making one of a given size looks the array's type up at run time, which takes as long as twenty appends.
let fewElements = 24

/// A stack whose top is moved out of it, not copied.
@safe struct Stack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 32) {
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }

    subscript(position: Int) -> Element {
        @inline(__always) unsafeAddress {
            precondition(position >= 0 && position < count)
            return unsafe UnsafePointer(base + position)
        }
        @inline(__always) unsafeMutableAddress {
            precondition(position >= 0 && position < count)
            return unsafe base + position
        }
    }

    /// The elements of `range`, valid until the stack changes.
    @inline(__always)
    func elements(in range: Range<Int>) -> UnsafeBufferPointer<Element> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// Pushes `element` a number of times.
    mutating func push(_ element: Element, times: Int) {
        reserve(times)
        unsafe (base + count).initialize(repeating: element, count: times)
        count += times
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    /// Makes room for as many more elements, of which it is known that they come.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity - count < additional { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int = 1) {
        // Pages that are never written cost nothing, pages written twice cost twice: so in few, large steps.
        let larger = capacity < 1 << 20 ? capacity * 4 : capacity + capacity / 2
        capacity = max(larger, count + additional)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        unsafe moved.moveInitialize(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = unsafe moved
    }

    @inline(__always)
    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return unsafe (base + count).move()
    }

    /// Takes the elements from `first` on off the stack.
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

    /// Takes `taken` elements off the stack; `body` must move all of them out.
    @inline(__always)
    mutating func pop(_ taken: Int, _ body: (UnsafeMutablePointer<Element>) -> Void) {
        precondition(taken <= count)
        count -= taken
        unsafe body(base + count)
    }
}
