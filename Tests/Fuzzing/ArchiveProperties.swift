internal import PropertyLists

/// Files of NSKeyedArchiver.
extension Target {
    /// Opens bytes as a keyed archive, and archives what they contain.
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
            try checkArchiving(of: archive.value)
        case .failure(let failure): try check(failure, value["$objects"]?.arrayValue?.count ?? 0)
        }
        if let archive = try? KeyedArchive(archiving: value, limits: limits),
            let again = try? KeyedArchive(archive.propertyList)
        {
            try checkArchiving(of: again.value)
        }
        let failures = (try? KeyedArchive.openAll(in: value, limits: limits))?.failures ?? []
        for failure in failures { try check(failure, .max) }
    }

    private func open(
        _ value: PropertyList, _ limits: PropertyList.Limits
    ) -> Result<KeyedArchive, KeyedArchive.Failure> {
        Result { () throws(KeyedArchive.Failure) in try KeyedArchive(value, limits: limits) }
    }

    /// An archive that can be opened can be archived again, and is then opened as the same value. Only an object that
    /// was opened as its fields, because one of them was unusual, may then be opened as the value that they describe.
    private func checkArchiving(of value: PropertyList) throws(BrokenProperty) {
        let archive: PropertyList
        do throws(KeyedArchive.Failure) {
            archive = try KeyedArchive(archiving: value).propertyList
        } catch {
            throw BrokenProperty(self, "the opened archive cannot be archived again: \(error)")
        }
        guard case .success(let again) = open(archive, .default) else {
            throw BrokenProperty(self, "the written archive cannot be opened")
        }
        if again.value == value { return }
        guard namedClasses(in: again.value) < namedClasses(in: value) else {
            throw BrokenProperty(self, "the written archive is opened as another value")
        }
        try checkArchiving(of: again.value)
    }

    /// The number of objects that are dictionaries with the names of their classes.
    private func namedClasses(in value: PropertyList) -> Int {
        switch value {
        case .array(let elements): elements.reduce(0) { $0 + namedClasses(in: $1) }
        case .dictionary(let entries):
            entries.reduce(entries["$class"] == nil ? 0 : 1) { $0 + namedClasses(in: $1.value) }
        default: 0
        }
    }

    private func check(_ failure: KeyedArchive.Failure, _ count: Int) throws(BrokenProperty) {
        if let object = failure.object, !(0..<count).contains(object) {
            throw BrokenProperty(self, "a failure in object \(object) of \(count)")
        }
        guard !failure.description.isEmpty else { throw BrokenProperty(self, "a failure without words") }
    }
}
