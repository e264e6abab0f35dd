/// The keys that values of one type had the last time, with all that was computed from them.
///
/// Values of one type mostly have the same keys in the same order. Whether keys differ, and where each stands, is
/// then found out once.
final class KeyShape {
    /// A dictionary with these keys. It may be another one when a value ends than it was when that began.
    @exclusivity(unchecked) private(set) var model = PropertyList.Dictionary()
    /// How many values in a row had other keys than those remembered.
    @exclusivity(unchecked) private var changes = 0

    /// The most keys that are remembered, and the most bytes of them.
    private static var most: (keys: Int, bytes: Int) { (128, 4096) }
    /// The changes after which keys are remembered: not those of a single value, nor ever new ones.
    private static var rememberedChanges: ClosedRange<Int> { 2...16 }

    /// Is told that a value had the keys of the model.
    @inline(__always)
    func confirm() { changes = 0 }

    /// Is told the dictionary of a value that had other keys than the model.
    func learn(_ dictionary: PropertyList.Dictionary) {
        changes += 1
        guard Self.rememberedChanges.contains(changes), dictionary.count <= Self.most.keys,
            dictionary.keys.reduce(0, { $0 + $1.utf8.count }) <= Self.most.bytes
        else { return }
        model = dictionary.model
    }
}

extension PropertyList.Dictionary {
    /// Removes keys that were left out after so many of the `entries`, unless they were put in again.
    mutating func remove(_ omitted: [(position: Int, key: String)], from entries: ContiguousArray<Entry>) {
        var last = PropertyList.Dictionary(minimumCapacity: entries.count)
        for (position, entry) in entries.enumerated() { last[entry.key] = .integer(.init(position)) }
        var gone = PropertyList.Dictionary()
        for (position, key) in omitted {
            if case .integer(let put)? = last[key], put < .init(position) { gone[key] = .boolean(true) }
        }
        removeAll { gone[$0.key] != nil }
    }

    /// Whether `key` stands at `position`.
    @inline(__always)
    func hasKey(_ key: String, at position: Int) -> Bool {
        position < entries.count && entries[position].key.isSameKey(as: key)
    }
}
