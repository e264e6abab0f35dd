/// Remembers something about the types that it met last: a table of a few slots, of which each type has some.
///
/// Types with the same slots drive each other out, so what is kept must be something that can be found again.
final class TypeTable<Value> {
    /// The types in the slots; 0 in those that are free.
    private let types = UnsafeMutablePointer<UInt>.allocate(capacity: slotCount)
    /// What is known of them: memory that is initialized where a type stands.
    private let values = UnsafeMutablePointer<Value>.allocate(capacity: slotCount)

    init() { types.initialize(repeating: 0, count: Self.slotCount) }

    deinit {
        for slot in 0..<Self.slotCount where types[slot] != 0 { (values + slot).deinitialize(count: 1) }
        types.deallocate()
        values.deallocate()
    }

    @inline(__always)
    subscript(type: any Any.Type) -> Value? {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        let slot = Self.slot(of: type)
        return types[slot] == type ? values[slot] : further(type)
    }

    /// Looks into the slots behind the one of a type, where it stands if another has taken that.
    @inline(never)
    private func further(_ type: UInt) -> Value? {
        for distance in 1..<Self.mostDistance {
            let slot = Self.slot(of: type, distance)
            if types[slot] == type { return values[slot] }
        }
        return nil
    }

    func insert(_ value: Value, for type: any Any.Type) -> Value {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        let distance = (0..<Self.mostDistance).first { types[Self.slot(of: type, $0)] == 0 } ?? 0
        let slot = Self.slot(of: type, distance)
        if types[slot] == 0 {
            (values + slot).initialize(to: value)
        } else {
            values[slot] = value
        }
        types[slot] = type
        return value
    }

    private static var slotBits: Int { 6 }
    private static var slotCount: Int { 1 << slotBits }
    /// How many slots are looked into for a type.
    private static var mostDistance: Int { 4 }

    /// The first bits of a product with the golden section: descriptions of types mostly lie close together.
    @inline(__always)
    private static func slot(of type: UInt, _ distance: Int = 0) -> Int {
        let scattered = (UInt64(type) &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - slotBits)
        return (Int(truncatingIfNeeded: scattered) &+ distance) & (slotCount - 1)
    }
}
