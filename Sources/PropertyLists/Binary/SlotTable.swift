/// An open hash table of object numbers: a slot is a hash above the number plus one; 0 is free.
struct SlotTable: ~Copyable {
    private var slots: UnsafeMutablePointer<UInt64>
    private var slotCount: Int
    private var filled = 0

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

    @inline(__always)
    func object(in slot: Int) -> Int? {
        let entry = slots[slot]
        return entry == 0 ? nil : Int(entry & 0xFFFF_FFFF) - 1
    }

    @inline(__always)
    func hash(in slot: Int) -> UInt32 { UInt32(truncatingIfNeeded: slots[slot] >> 32) }

    @inline(__always)
    mutating func fill(_ slot: Int, with object: Int, _ hash: UInt32) {
        slots[slot] = UInt64(hash) << 32 | UInt64(truncatingIfNeeded: object + 1)
        filled += 1
        if filled * 2 > slotCount { grow() }
    }

    @inline(never)
    private mutating func grow() {
        let (former, formerCount) = (slots, slotCount)
        slotCount *= 4
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: 0, count: slotCount)
        for at in 0..<formerCount where former[at] != 0 {
            var slot = firstSlot(UInt32(truncatingIfNeeded: former[at] >> 32))
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = former[at]
        }
        former.deallocate()
    }
}
