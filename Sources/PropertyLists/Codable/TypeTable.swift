/// Remembers something about the types that it met last: a table of a few slots, of which each type has one.
///
/// Two types with the same slot drive each other out, so what is kept must be something that can be found again.
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
        return slot.type == type ? values[slot.position] : nil
    }

    func insert(_ value: Value, for type: any Any.Type) -> Value {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        let slot = Self.slot(of: type)
        slots[slot].type = type
        if slots[slot].position < 0 {
            slots[slot].position = values.count
            values.append(value)
        } else {
            values[slots[slot].position] = value
        }
        return value
    }

    /// Descriptions of types are at multiples of eight, and mostly some dozen bytes apart.
    @inline(__always)
    private static func slot(of type: UInt) -> Int { Int(bitPattern: (type >> 3 ^ type >> 8) & 31) }
}
