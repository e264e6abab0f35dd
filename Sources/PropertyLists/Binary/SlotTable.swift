/// An open hash table of object numbers. What is filled in stands in a row of its own, so that the slots, most of
/// which are free, take little memory: to touch a page for the first time costs more than to look into it often.
struct SlotTable: ~Copyable {
    /// Each the place of an entry plus one; 0 is free.
    private var slots: UnsafeMutablePointer<UInt32>
    private var slotCount: Int
    /// Each a hash above an object's number.
    private var entries = Stack<UInt64>(capacity: 256)

    /// - Parameter slotCount: a power of two.
    init(slotCount: Int) {
        self.slotCount = slotCount
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: 0, count: slotCount)
    }

    deinit { slots.deallocate() }

    @inline(__always)
    func firstSlot(_ hash: UInt32) -> Int { Int(hash) & (slotCount - 1) }

    @inline(__always)
    func next(_ slot: Int) -> Int { (slot + 1) & (slotCount - 1) }

    /// The object in a slot and its hash; nil where the slot is free.
    @inline(__always)
    func entry(in slot: Int) -> (object: Int, hash: UInt32)? {
        let place = slots[slot]
        guard place > 0 else { return nil }
        let entry = entries[Int(place) - 1]
        return (Int(entry & 0xFFFF_FFFF), UInt32(truncatingIfNeeded: entry >> 32))
    }

    @inline(__always)
    mutating func fill(_ slot: Int, with object: Int, _ hash: UInt32) {
        entries.push(UInt64(hash) << 32 | UInt64(truncatingIfNeeded: object))
        slots[slot] = UInt32(truncatingIfNeeded: entries.count)
        if entries.count * 2 > slotCount { grow() }
    }

    @inline(never)
    private mutating func grow() {
        slots.deallocate()
        slotCount *= slotCount < 1 << 16 ? 4 : 2
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: 0, count: slotCount)
        for place in 0..<entries.count {
            var slot = firstSlot(UInt32(truncatingIfNeeded: entries[place] >> 32))
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = UInt32(truncatingIfNeeded: place + 1)
        }
    }
}
