extension PropertyList.Dictionary: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        for (position, entry) in left.entries.enumerated() {
            // Two dictionaries that are compared mostly have the same order.
            if right.entries[position].key.hasSameBytes(as: entry.key) {
                if right.entries[position].value != entry.value { return false }
            } else if right[entry.key] != entry.value {
                return false
            }
        }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for entry in entries { sum &+= entry.hashValue }
        hasher.combine(sum)
    }
}

extension PropertyList.Dictionary: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { entries.count }
    public subscript(position: Int) -> Entry { entries[position] }
}

extension PropertyList.Dictionary: ExpressibleByDictionaryLiteral {
    /// A key that stands twice keeps its last value.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        self.init(elements)
    }

    /// A key that stands twice keeps its last value.
    public init(_ elements: some Sequence<(String, PropertyList)>) {
        self.init(minimumCapacity: elements.underestimatedCount)
        for (key, value) in elements { updateValue(value, forKey: key) }
    }
}
