internal import PropertyLists

extension Target {
    /// The lazy view returns the same values as the complete reader.
    func checkLazyView(_ bytes: UnsafeBufferPointer<UInt8>, _ value: PropertyList) throws(BrokenProperty) {
        do {
            let view = try BinaryPropertyList(parsing: bytes, limits: .default)
            guard try view.root == value else { throw BrokenProperty(.binary, "the lazy view has another root") }
            var records: [PropertyList] = []
            let areRead = try PropertyList.forEachBinaryRecord(
                in: Array(bytes), at: [], fields: [], test: { _, _, _ in true },
                take: { _, _, record in records.append(record) })
            let all = value.arrayValue ?? value.dictionaryValue.map { Array($0.values) }
            guard !areRead || records == all else { throw BrokenProperty(.binary, "the lazy view has other records") }
            guard case .dictionary(let dictionary) = value, mayBeSearched(bytes, dictionary, try view.keys) else {
                return
            }
            for (position, entry) in dictionary.prefix(64).enumerated() {
                guard try view[entry.key] == entry.value else {
                    throw BrokenProperty(.binary, "the lazy view has another value at \(position)")
                }
                guard try view[entry.key + "\u{1}"] == dictionary[entry.key + "\u{1}"] else {
                    throw BrokenProperty(.binary, "the lazy view has a key that is not there")
                }
            }
        } catch let broken as BrokenProperty {
            throw broken
        } catch {
            throw BrokenProperty(.binary, "the lazy view refuses what the reader takes: \(error)")
        }
    }

    /// Whether look-ups must succeed. They may fail in a file that incorrectly claims sorted keys.
    private func mayBeSearched(
        _ bytes: UnsafeBufferPointer<UInt8>, _ dictionary: PropertyList.Dictionary, _ keys: [String]
    ) -> Bool {
        let claimsToBeSorted = bytes[bytes.count - 27] == 1
        return !claimsToBeSorted || keys.count == dictionary.count && dictionary.isSorted
    }
}
