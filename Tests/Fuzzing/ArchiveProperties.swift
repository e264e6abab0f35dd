internal import PropertyLists

/// Files of NSKeyedArchiver.
extension Target {
    /// Opens bytes as a keyed archive.
    func checkArchive(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        let limits = PropertyList.Limits(nesting: 64, expandedNodes: 100_000, expandedBytes: 1 << 22)
        guard let value = try? PropertyList(parsing: bytes, limits: limits) else { return }
        let opened = open(value, limits)
        guard opened == open(value, limits) else { throw BrokenProperty(self, "the same archive, another value") }
        switch opened {
        case .success(let archive):
            guard archive.roots.allSatisfy({ archive.value(of: $0) != nil }) else {
                throw BrokenProperty(self, "a root without a value")
            }
        case .failure(let failure): try check(failure, value["$objects"]?.arrayValue?.count ?? 0)
        }
        let failures = (try? KeyedArchive.openAll(in: value, limits: limits))?.failures ?? []
        for failure in failures { try check(failure, .max) }
    }

    private func open(
        _ value: PropertyList, _ limits: PropertyList.Limits
    ) -> Result<KeyedArchive, KeyedArchive.Failure> {
        Result { () throws(KeyedArchive.Failure) in try KeyedArchive(value, limits: limits) }
    }

    private func check(_ failure: KeyedArchive.Failure, _ count: Int) throws(BrokenProperty) {
        if let object = failure.object, !(0..<count).contains(object) {
            throw BrokenProperty(self, "a failure in object \(object) of \(count)")
        }
        guard !failure.description.isEmpty else { throw BrokenProperty(self, "a failure without words") }
    }
}
