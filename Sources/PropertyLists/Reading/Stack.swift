/// Up to how many elements an array is made faster by appending them.
///
/// Making one of a given size looks the array's type up at run time, which takes as long as twenty appends.
let fewElements = 24

/// A stack whose top is moved out of it, not copied.
struct Stack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 32) {
        base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    subscript(position: Int) -> Element {
        @inline(__always) unsafeAddress {
            precondition(position >= 0 && position < count)
            return UnsafePointer(base + position)
        }
        @inline(__always) unsafeMutableAddress {
            precondition(position >= 0 && position < count)
            return base + position
        }
    }

    /// The elements of `range`, valid until the stack changes.
    @inline(__always)
    func elements(in range: Range<Int>) -> UnsafeBufferPointer<Element> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// Pushes `element` a number of times.
    mutating func push(_ element: Element, times: Int) {
        reserve(times)
        (base + count).initialize(repeating: element, count: times)
        count += times
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
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
        moved.moveInitialize(from: base, count: count)
        base.deallocate()
        base = moved
    }

    @inline(__always)
    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return (base + count).move()
    }

    /// Takes the elements from `first` on off the stack.
    mutating func popArray(from first: Int) -> [Element] {
        let taken = count - first
        guard taken > 0 else { return [] }
        count = first
        if taken <= fewElements {
            var elements: [Element] = []
            elements.reserveCapacity(taken)
            for at in first..<first + taken { elements.append((base + at).move()) }
            return elements
        }
        return [Element](unsafeUninitializedCapacity: taken) { buffer, initialized in
            buffer.baseAddress!.moveInitialize(from: base + first, count: taken)
            initialized = taken
        }
    }

    /// Takes `taken` elements off the stack; `body` must move all of them out.
    @inline(__always)
    mutating func pop(_ taken: Int, _ body: (UnsafeMutablePointer<Element>) -> Void) {
        precondition(taken <= count)
        count -= taken
        body(base + count)
    }
}
