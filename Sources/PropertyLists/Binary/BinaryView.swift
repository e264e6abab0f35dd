/// A binary property list whose values are read on demand.
///
/// A lookup reads only the parts of the file that lead to the value, and decodes only that value. If the file states
/// that the root's keys are sorted (`WritingOptions.marksSortedRoot`), the lookup is a binary search, otherwise a
/// linear one. Damage in other parts of the file is not detected.
public struct BinaryPropertyList: Sendable {
    private let source: any ByteSource
    private let trailer: BinaryTrailer
    private let limits: PropertyList.Limits

    /// Opens a binary property list. Reads and checks its header and trailer; everything else is read on demand.
    package init(_ source: some ByteSource, limits: PropertyList.Limits = .default) throws {
        self.source = source
        self.limits = limits
        let length = source.byteCount
        guard length <= limits.inputBytes else {
            throw Fault(.tooLarge(limit: limits.inputBytes), at: length).inBinary()
        }
        let whole = BinaryTrailer.headerLength + BinaryTrailer.length
        // Too short a file is read whole, and the check reports the problem.
        let start = try source.checkedBytes(at: 0, count: length < whole ? length : BinaryTrailer.headerLength)
        let end =
            length < whole
            ? [] : try source.checkedBytes(at: length - BinaryTrailer.length, count: BinaryTrailer.length)
        do throws(Fault) {
            if length < whole {
                trailer = try BinaryTrailer(file: start)
            } else {
                try BinaryTrailer.checkHeader(start)
                trailer = try BinaryTrailer(endOf: end, fileLength: length)
            }
        } catch {
            throw error.inBinary()
        }
    }

    /// Opens a binary property list in memory.
    public init(parsing bytes: some Sequence<UInt8>, limits: PropertyList.Limits = .default) throws {
        try self.init(Array(bytes), limits: limits)
    }
}

extension BinaryPropertyList {
    /// The whole value.
    public var root: PropertyList {
        get throws { try value(at: EntryPath())! }
    }

    /// The value under `key` in the root, or nil if there is no such key or the root is not a dictionary.
    public subscript(key: String) -> PropertyList? {
        get throws { try value(at: EntryPath([EntryPath.Component(key)]), isKey: true) }
    }

    /// The value at `path`, or nil if no entry is there.
    public func value(at path: EntryPath) throws -> PropertyList? { try value(at: path, isKey: false) }

    /// The keys of the root in the order of the file. Empty if the root is not a dictionary.
    public var keys: [String] {
        get throws {
            try reading { reader throws(Fault) in try reader.keys(of: trailer.root) }
        }
    }

    /// Whether the root is a dictionary, which a settings file requires.
    package var hasDictionary: Bool {
        get throws {
            try reading { reader throws(Fault) in
                try reader.head(at: reader.offset(of: trailer.root)).marker >> 4 == 0xD
            }
        }
    }

    private func value(at path: EntryPath, isKey: Bool) throws -> PropertyList? {
        try reading(path) { reader throws(Fault) in
            var object = trailer.root
            for (depth, component) in path.components.enumerated() {
                let isSorted = depth == 0 && trailer.sortVersion == 1
                guard let child = try reader.child(component, of: object, isSorted: isSorted, isKey: isKey) else {
                    return nil
                }
                object = child
            }
            return try reader.read(object: object)
        }
    }

    /// Runs `body` with a new reader. Throws an error of the source unchanged, and an error in the file as a failure.
    private func reading<Result>(
        _ path: EntryPath = EntryPath(), _ body: (inout BinaryReader) throws(Fault) -> Result
    ) throws -> Result {
        var reader = BinaryReader(
            BinaryBytes(source, byteCount: trailer.fileLength), trailer: trailer, limits: limits,
            options: PropertyList.ReadingOptions())
        do throws(Fault) {
            return try body(&reader)
        } catch {
            if let failure = reader.bytes.failure { throw failure }
            throw error.inBinary(at: EntryPath(path.components + reader.path.components))
        }
    }
}

// MARK: Looking up

extension BinaryReader {
    /// The child of a container that `component` names, or nil if there is none.
    mutating func child(
        _ component: EntryPath.Component, of object: Int, isSorted: Bool, isKey: Bool
    ) throws(Fault) -> Int? {
        let head = try head(at: offset(of: object))
        switch head.marker >> 4 {
        case 0xD:
            let units = Array(component.text.utf16)
            let position = isSorted ? try binarySearch(head, units) : try linearSearch(head, units)
            guard let position else { return nil }
            return try reference(at: head.contents + (head.count + position) * trailer.referenceSize)
        case 0xA, 0xC:
            guard !isKey, let position = component.index?.position(among: head.count) else { return nil }
            return try reference(at: head.contents + position * trailer.referenceSize)
        default: return nil
        }
    }

    mutating func keys(of object: Int) throws(Fault) -> [String] {
        let head = try head(at: offset(of: object))
        guard head.marker >> 4 == 0xD else { return [] }
        // With states, a long key that is referenced many times is decoded into one string.
        prepareStates()
        var keys: [String] = []
        for position in 0..<head.count {
            let key = try reference(at: head.contents + position * trailer.referenceSize)
            guard case .string(let text) = try read(object: key) else {
                throw Fault(.keyIsNotText, at: head.contents + position * trailer.referenceSize)
            }
            keys.append(text)
        }
        return keys
    }

    /// The last position of the key in a dictionary with sorted keys, by binary search.
    private mutating func binarySearch(_ head: Head, _ key: [UInt16]) throws(Fault) -> Int? {
        var (low, high) = (0, head.count)
        var found: Int?
        while low < high {
            let middle = low + (high - low) / 2
            let order = try compare(key, withKeyAt: head.contents + middle * trailer.referenceSize)
            if order == 0 { found = middle }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return found
    }

    /// The last position of the key in a dictionary, because every reader uses the last of duplicate keys.
    private mutating func linearSearch(_ head: Head, _ key: [UInt16]) throws(Fault) -> Int? {
        for position in (0..<head.count).reversed() {
            if try compare(key, withKeyAt: head.contents + position * trailer.referenceSize) == 0 { return position }
        }
        return nil
    }

    /// Compares `key` with the key that the reference at `place` names. The result is negative, zero or positive.
    private mutating func compare(_ key: [UInt16], withKeyAt place: Int) throws(Fault) -> Int {
        let head = try head(at: offset(of: reference(at: place)))
        let width: Int
        switch head.marker >> 4 {
        case 0x5: width = 1
        case 0x6: width = 2
        default: throw Fault(.keyIsNotText, at: place)
        }
        // One more code unit than `key` has shows whether the other key is longer.
        let shown = min(head.count, key.count + 1)
        let start = try load(head.contents, count: shown * width)
        for at in 0..<min(shown, key.count) {
            let unit = UInt16(bytes.loaded.bigEndian(at: start + width * at, size: width))
            if width == 1, unit >= 0x80 { throw Fault(.invalidText(encoding: "ASCII"), at: head.contents + at) }
            if key[at] != unit { return key[at] < unit ? -1 : 1 }
        }
        return key.count - head.count
    }
}
