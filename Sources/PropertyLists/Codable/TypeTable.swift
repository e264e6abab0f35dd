/// Remembers something about the types that it met last: a table of a few slots, of which each type has some.
///
/// Types with the same slots drive each other out, so what is kept must be something that can be found again.
final class TypeTable<Value> {
    /// A type, and where in `values` stands what is known of it.
    private struct Slot {
        var type: UInt = 0
        var position = -1
    }

    // No access to these calls anything that could access them again, so Swift need not check that.
    @exclusivity(unchecked) private var slots = ContiguousArray(repeating: Slot(), count: 32)
    @exclusivity(unchecked) private var values: ContiguousArray<Value> = []

    @inline(__always)
    subscript(type: any Any.Type) -> Value? {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        let slot = slots[Self.slot(of: type)]
        return slot.type == type ? values[slot.position] : further(type)
    }

    /// Looks into the slots behind the one of a type, where it stands if another has taken that.
    @inline(never)
    private func further(_ type: UInt) -> Value? {
        for distance in 1..<Self.mostDistance {
            let slot = slots[Self.slot(of: type, distance)]
            if slot.type == type { return values[slot.position] }
        }
        return nil
    }

    func insert(_ value: Value, for type: any Any.Type) -> Value {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        let distance = (0..<Self.mostDistance).first { slots[Self.slot(of: type, $0)].type == 0 } ?? 0
        let slot = Self.slot(of: type, distance)
        slots[slot].type = type
        if slots[slot].position < 0 {
            slots[slot].position = values.count
            values.append(value)
        } else {
            values[slots[slot].position] = value
        }
        return value
    }

    /// How many slots are looked into for a type.
    private static var mostDistance: Int { 4 }

    /// Descriptions of types are at multiples of eight, and mostly some dozen bytes apart.
    @inline(__always)
    private static func slot(of type: UInt, _ distance: Int = 0) -> Int {
        (Int(bitPattern: type >> 3 ^ type >> 8) &+ distance) & 31
    }
}
