extension PropertyList {
    /// Reads the elements or entries of the container at `path` in a binary file one by one. Of a dictionary, it first
    /// reads only the entries under `fields`. If `test` returns true, it reads the whole value and passes it to `take`.
    ///
    /// As in any lazy view, damage in parts that are not read is not detected.
    ///
    /// - Returns: false if the value at `path` is not a container, or one whose keys are not unique; nothing is read.
    package static func forEachBinaryRecord(
        in bytes: [UInt8], at path: EntryPath, fields: Set<Name>, limits: Limits = .default,
        test: (EntryPath.Component, _ isEntry: Bool, PropertyList) throws -> Bool,
        take: (EntryPath.Component, _ isEntry: Bool, PropertyList) throws -> Void
    ) throws -> Bool {
        guard bytes.count <= limits.inputBytes else {
            throw Fault(.tooLarge(limit: limits.inputBytes), at: bytes.count).inBinary(at: path)
        }
        let trailer: BinaryTrailer
        do throws(Fault) {
            trailer = try BinaryTrailer(file: bytes)
        } catch {
            throw error.inBinary(at: path)
        }
        var records = BinaryRecords(bytes, trailer, limits, fields: fields)
        do throws(Fault) {
            guard try records.enter(path) else { return false }
        } catch {
            throw error.inBinary(at: path)
        }
        for position in 0..<records.count {
            let component: EntryPath.Component
            var value: PropertyList
            do throws(Fault) {
                component = try records.component(at: position)
                value = try records.part(at: position)
            } catch {
                throw error.inBinary(at: path)
            }
            guard try test(component, records.isDictionary, value) else { continue }
            do throws(Fault) {
                value = try records.whole(at: position)
            } catch {
                throw error.inBinary(at: EntryPath(path.components + [component]))
            }
            try take(component, records.isDictionary, value)
        }
        return true
    }
}

/// The elements or entries of a container in a binary file.
private struct BinaryRecords: ~Copyable {
    private enum KeyUse: UInt8 { case unknown, ignored, wanted }

    private var reader: BinaryReader
    private let trailer: BinaryTrailer
    private let fields: Set<Name>
    private var container = BinaryReader.Head(marker: 0, contents: 0)
    private var keys: [String] = []
    /// For each object, whether it is the key of a requested entry.
    private var uses: [KeyUse]
    /// The objects that were read in part, and the results for objects that were read twice.
    private var isKnown: [Bool]
    private var repeated: [Int: PropertyList] = [:]

    init(_ bytes: [UInt8], _ trailer: BinaryTrailer, _ limits: PropertyList.Limits, fields: Set<Name>) {
        reader = BinaryReader(
            BinaryBytes(bytes), trailer: trailer, limits: limits, options: PropertyList.ReadingOptions())
        self.trailer = trailer
        self.fields = fields
        uses = Array(repeating: .unknown, count: trailer.objectCount)
        isKnown = Array(repeating: false, count: trailer.objectCount)
        // With states, the reader refuses overlapping objects. Otherwise, a few bytes could expand into many long
        // texts.
        reader.prepareStates()
    }

    var count: Int { container.count }
    var isDictionary: Bool { container.marker >> 4 == 0xD }

    /// Enters the container at a path. Returns false if there is no container that can be read one record at a time.
    mutating func enter(_ path: EntryPath) throws(Fault) -> Bool {
        var object = trailer.root
        for component in path.components {
            guard let child = try reader.child(component, of: object, isSorted: false, isKey: false) else {
                return false
            }
            object = child
        }
        container = try reader.head(at: reader.offset(of: object))
        switch container.marker >> 4 {
        case 0xD:
            keys = try reader.keys(of: object)
            return Set(keys.map { Name($0) }).count == keys.count
        case 0xA: return true
        default: return false
        }
    }

    func component(at position: Int) throws(Fault) -> EntryPath.Component {
        isDictionary ? EntryPath.Component(keys[position]) : EntryPath.Component(position)
    }

    private mutating func object(at position: Int) throws(Fault) -> Int {
        let first = isDictionary ? container.count : 0
        return try reader.reference(at: container.contents + (first + position) * trailer.referenceSize)
    }

    mutating func whole(at position: Int) throws(Fault) -> PropertyList {
        try reader.read(object: object(at: position))
    }

    /// Reads the requested entries of a dictionary, or all of any other value.
    mutating func part(at position: Int) throws(Fault) -> PropertyList {
        let object = try object(at: position)
        if let value = repeated[object] { return value }
        let head = try reader.head(at: reader.offset(of: object))
        let value: PropertyList
        if head.marker >> 4 == 0xD {
            var entries = PropertyList.Dictionary()
            for position in 0..<head.count {
                let key = try reader.reference(at: head.contents + position * trailer.referenceSize)
                guard try isWanted(key) else { continue }
                let place = head.contents + (head.count + position) * trailer.referenceSize
                guard case .string(let name) = try reader.read(object: key) else { continue }
                entries[name] = try reader.read(object: reader.reference(at: place))
            }
            value = .dictionary(entries)
        } else {
            value = try reader.read(object: object)
        }
        if isKnown[object] { repeated[object] = value } else { isKnown[object] = true }
        return value
    }

    private mutating func isWanted(_ key: Int) throws(Fault) -> Bool {
        if uses[key] == .unknown {
            guard case .string(let name) = try reader.read(object: key) else {
                throw try Fault(.keyIsNotText, at: reader.offset(of: key))
            }
            uses[key] = fields.contains(Name(name)) ? .wanted : .ignored
        }
        return uses[key] == .wanted
    }
}
