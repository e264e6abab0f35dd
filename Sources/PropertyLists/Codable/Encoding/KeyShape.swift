/// The keys that values of one type had the last time, with all that was computed from them.
///
/// Values of one type mostly have the same keys in the same order. Whether keys differ, and where each stands, is
/// then found out once.
final class KeyShape {
    /// A dictionary with these keys.
    @exclusivity(unchecked) private var model = PropertyList.Dictionary()
    /// How many values in a row had other keys than those remembered.
    @exclusivity(unchecked) private var changes = 0

    /// The most keys that are remembered.
    private static var mostKeys: Int { 128 }
    /// The changes after which keys are remembered: not those of a single value, nor ever new ones.
    private static var rememberedChanges: ClosedRange<Int> { 2...16 }

    @inline(__always)
    var count: Int { model.entries.count }

    @inline(__always)
    func hasKey(_ key: String, at position: Int) -> Bool {
        position < model.entries.count && model.entries[position].key.isSameKey(as: key)
    }

    /// The dictionary of these entries, which have the keys of the shape as far as they go if `haveShape` says so.
    func dictionary(
        of entries: consuming ContiguousArray<PropertyList.Dictionary.Entry>, haveShape: Bool
    ) -> PropertyList.Dictionary {
        if haveShape, entries.count == count {
            changes = 0
            return PropertyList.Dictionary(entries, withKeysOf: model)
        }
        let dictionary = PropertyList.Dictionary(read: entries, areSorted: false) { _ in }
        changes += 1
        if dictionary.count <= Self.mostKeys, Self.rememberedChanges.contains(changes) {
            model = dictionary.model
        }
        return dictionary
    }
}
