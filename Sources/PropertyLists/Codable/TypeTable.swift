/// Remembers something about the types that it met last: a table of a few slots, of which each type has one.
///
/// Two types with the same slot drive each other out, so what is kept must be something that can be found again.
final class TypeTable<Value> {
    /// No access to it calls anything that could access it again, so Swift need not check that.
    @exclusivity(unchecked) private var slots: ContiguousArray<(type: ObjectIdentifier, value: Value)?>

    private static var slotCount: Int { 32 }

    init() { slots = ContiguousArray(repeating: nil, count: Self.slotCount) }

    @inline(__always)
    subscript(type: any Any.Type) -> Value? {
        let type = ObjectIdentifier(type)
        guard let slot = slots[Self.slot(of: type)], slot.type == type else { return nil }
        return slot.value
    }

    @inline(never)
    func insert(_ value: Value, for type: any Any.Type) -> Value {
        let type = ObjectIdentifier(type)
        slots[Self.slot(of: type)] = (type, value)
        return value
    }

    /// Descriptions of types are at multiples of eight, and mostly some dozen bytes apart.
    @inline(__always)
    private static func slot(of type: ObjectIdentifier) -> Int {
        let address = UInt(bitPattern: type) >> 3
        return Int(bitPattern: (address ^ address >> 5) % UInt(slotCount))
    }
}
