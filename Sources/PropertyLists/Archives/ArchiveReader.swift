#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Replaces the references in a keyed archive with the values that they refer to, without recursion.
struct ArchiveReader: ~Copyable {
    /// A part of an archive that is still to be resolved.
    enum Node {
        /// A value without references.
        case asIs(PropertyList)
        /// A value of the archive: a reference, or one that may contain references.
        case archived(PropertyList)
        case array([Node])
        case dictionary([(key: String, node: Node)])
    }

    private enum Children {
        case array([Node])
        case dictionary([(key: String, node: Node)])

        var isDictionary: Bool { if case .dictionary = self { true } else { false } }

        var count: Int {
            switch self {
            case .array(let nodes): nodes.count
            case .dictionary(let entries): entries.count
            }
        }
    }

    private struct Frame {
        let children: Children
        var next = 0
        /// The position in `places` of the container.
        let place: Int
        /// The object that the container is, or is a part of.
        let object: Int?
    }

    /// The place of a container in the value: its component in the place of the enclosing container.
    private struct Place {
        let parent: Int
        let component: EntryPath.Component
    }

    /// The objects, or nil if the value is not an archive and only archives in its data are opened.
    private let objects: ArchivedObjects?
    /// The path of the archive in the whole value.
    private let prefix: String
    private let opensData: Bool
    private(set) var budget: ExpansionBudget
    private var builder: TreeBuilder
    private var frames: [Frame] = []
    private var places: [Place] = []
    private var placesOfObjects: [Int: Int] = [:]

    init(objects: ArchivedObjects?, prefix: String, opensData: Bool, budget: ExpansionBudget) {
        self.objects = objects
        self.prefix = prefix
        self.opensData = opensData
        self.budget = budget
        var limits = budget.limits
        limits.nesting -= budget.depth
        builder = TreeBuilder(limits: limits, options: PropertyList.ReadingOptions(refusesDuplicateKeys: true))
    }

    /// Returns the value of a node.
    mutating func resolve(_ root: Node) throws(KeyedArchive.Failure) -> PropertyList {
        try add(root, as: nil)
        while let last = frames.indices.last {
            let next = frames[last].next
            guard next < frames[last].children.count else {
                try end(frames[last])
                continue
            }
            frames[last].next += 1
            switch frames[last].children {
            case .array(let nodes): try add(nodes[next], as: EntryPath.Component(next))
            case .dictionary(let entries):
                try spend(bytes: entries[next].key.utf8.count)
                builder.addKey(entries[next].key, at: 0)
                try add(entries[next].node, as: EntryPath.Component(entries[next].key))
            }
        }
        return builder.finish()
    }

    private mutating func add(_ node: Node, as component: EntryPath.Component?) throws(KeyedArchive.Failure) {
        guard let objects, case .archived(.uid(let reference)) = node else {
            return try add(node, as: component, object: frames.last?.object, isWhole: false)
        }
        guard let index = objects.position(of: reference) else {
            throw KeyedArchive.Failure(
                .danglingReference(reference, count: objects.count), object: frames.last?.object)
        }
        if let place = placesOfObjects[index] { return try addReference(to: place) }
        // Charged here, because many objects can share one long text, which is examined again for each of them.
        try spend(values: 0, bytes: objects.size(of: index), object: index)
        try add(objects.node(of: index), as: component, object: index, isWhole: true)
    }

    /// - Parameter isWhole: Whether the node is the whole of `object`, so that references to `object` lead here.
    private mutating func add(
        _ node: Node, as component: EntryPath.Component?, object: Int?, isWhole: Bool
    ) throws(KeyedArchive.Failure) {
        switch node {
        case .array(let nodes): try begin(.array(nodes), as: component, object: object, isWhole: isWhole)
        case .dictionary(let entries):
            try begin(.dictionary(entries), as: component, object: object, isWhole: isWhole)
        case .asIs(.array(let elements)):
            try begin(.array(elements.map { .asIs($0) }), as: component, object: object, isWhole: false)
        case .asIs(.dictionary(let entries)):
            let children = entries.map { (key: $0.key, node: Node.asIs($0.value)) }
            try begin(.dictionary(children), as: component, object: object, isWhole: false)
        case .archived(.array(let elements)):
            try begin(.array(elements.map { .archived($0) }), as: component, object: object, isWhole: isWhole)
        case .archived(.dictionary(let entries)):
            let children = entries.map { (key: ArchiveKey.escaped($0.key), node: Node.archived($0.value)) }
            try begin(.dictionary(children), as: component, object: object, isWhole: isWhole)
        case .asIs(let scalar), .archived(let scalar): try add(scalar: scalar, as: component, object: object)
        }
    }

    private mutating func begin(
        _ children: Children, as component: EntryPath.Component?, object: Int?, isWhole: Bool
    ) throws(KeyedArchive.Failure) {
        try spend(bytes: 0, object: object)
        // An empty container is repeated like a scalar.
        if isWhole, let object, children.count > 0 { placesOfObjects[object] = places.count }
        let frame = Frame(children: children, place: places.count, object: object)
        let parent = frames.last?.place ?? -1
        places.append(Place(parent: parent, component: component ?? ""))
        try beginContainer(dictionary: children.isDictionary, object: object)
        frames.append(frame)
    }

    private mutating func beginContainer(dictionary: Bool, object: Int?) throws(KeyedArchive.Failure) {
        do throws(Fault) {
            try builder.begin(dictionary: dictionary, at: 0)
        } catch {
            throw KeyedArchive.Failure(.nestedTooDeeply(limit: budget.limits.nesting), object: object)
        }
    }

    private mutating func end(_ frame: Frame) throws(KeyedArchive.Failure) {
        frames.removeLast()
        guard case .dictionary = frame.children else { return builder.endArray() }
        try endDictionary(object: frame.object)
    }

    private mutating func endDictionary(object: Int?) throws(KeyedArchive.Failure) {
        do throws(Fault) {
            try builder.endDictionary()
        } catch {
            guard case .duplicateKey(let key) = error.problem else {
                throw KeyedArchive.Failure(.notAnArchive, object: object)
            }
            throw KeyedArchive.Failure(.duplicateKey(key), object: object)
        }
    }

    private mutating func addReference(to place: Int) throws(KeyedArchive.Failure) {
        let object = frames.last?.object
        // Checked before the path is built: long paths to many objects could exhaust memory.
        try spend(bytes: 4 + prefix.utf8.count + pathLength(of: place), object: object)
        try spend(bytes: 0, object: object)
        try beginContainer(dictionary: true, object: object)
        builder.addKey(ArchiveKey.reference, at: 0)
        builder.add(.string(prefix + path(of: place)))
        try endDictionary(object: object)
    }
}

// MARK: Scalars, and archives in data

extension ArchiveReader {
    private mutating func add(
        scalar: PropertyList, as component: EntryPath.Component?, object: Int?
    ) throws(KeyedArchive.Failure) {
        switch scalar {
        case .string(let text): try spend(bytes: text.utf8.count, object: object)
        case .data(let data):
            try spend(bytes: data.count, object: object)
            if opensData, let value = try opened(data, as: component) { return builder.add(value) }
        default: try spend(bytes: 8, object: object)
        }
        builder.add(scalar)
    }

    /// Returns the contents of the archive in the data, or nil if there is none.
    private mutating func opened(
        _ data: Data, as component: EntryPath.Component?
    ) throws(KeyedArchive.Failure) -> PropertyList? {
        guard data.count >= 8, PropertyList.isBinary(Array(data.prefix(7))) || data.first == UInt8(ascii: "<"),
            data.contains("$archiver")
        else { return nil }
        let place =
            (frames.last.map { path(of: $0.place) } ?? "") + (component.map { EntryPath([$0]).description } ?? "")
        var inner = budget
        inner.level += 1
        inner.depth += builder.depth
        defer { budget.takeCounts(of: inner) }
        do throws(KeyedArchive.Failure) {
            guard inner.level <= ExpansionBudget.maximumLevel else {
                throw KeyedArchive.Failure(.nestedTooDeeply(limit: ExpansionBudget.maximumLevel))
            }
            let archive = try Self.propertyList(in: data, limits: budget.limits)
            guard KeyedArchive.isArchive(archive) else { return nil }
            return try KeyedArchive(archive, prefix: prefix + place, opensData: true, budget: &inner).value
        } catch {
            let path = (try? EntryPath(parsing: prefix + place)) ?? EntryPath()
            inner.record(KeyedArchive.Failure(error.problem, object: error.object, path: path))
            return nil
        }
    }

    private static func propertyList(
        in data: Data, limits: PropertyList.Limits
    ) throws(KeyedArchive.Failure) -> PropertyList {
        do throws(DecodingFailure) {
            return try PropertyList(parsing: data, limits: limits)
        } catch {
            throw KeyedArchive.Failure(.unreadable(error.description))
        }
    }

    private mutating func spend(values: Int = 1, bytes: Int, object: Int? = nil) throws(KeyedArchive.Failure) {
        if let problem = budget.spend(values: values, bytes: bytes) {
            throw KeyedArchive.Failure(problem, object: object ?? frames.last?.object)
        }
    }
}

// MARK: Paths

extension ArchiveReader {
    private func path(of place: Int) -> String { EntryPath(components(of: place)).description }

    private func components(of place: Int) -> [EntryPath.Component] {
        var components: [EntryPath.Component] = []
        var place = place
        while places[place].parent >= 0 {
            components.append(places[place].component)
            place = places[place].parent
        }
        return components.reversed()
    }

    /// The most bytes that the path of a place can have.
    private func pathLength(of place: Int) -> Int {
        var (length, place) = (0, place)
        while places[place].parent >= 0 {
            length += 1 + 2 * places[place].component.text.utf8.count
            place = places[place].parent
        }
        return length
    }
}

/// The limits on the result of opening an archive, and the part of them that it and its nested archives have used.
struct ExpansionBudget {
    /// The maximum nesting depth of archives in data.
    static let maximumLevel = 16
    private static let maximumFailures = 100

    let limits: PropertyList.Limits
    private let mostBytes: Int
    private var values = 0
    private var bytes = 0
    /// The nesting depth of the current archive in data; 0 for the value that is opened.
    var level = 0
    /// The number of containers that enclose the current archive.
    var depth = 0
    /// Why archives in data could not be opened.
    private(set) var failures: [KeyedArchive.Failure] = []

    /// - Parameter value: The value to open. Its size determines the limit of bytes in the result.
    init(_ limits: PropertyList.Limits, opening value: PropertyList) {
        self.limits = limits
        var size = 0
        for object in value["$objects"]?.arrayValue ?? [] {
            switch object {
            case .string(let text): size += text.utf8.count
            case .data(let data): size += data.count
            default: size += 64
            }
        }
        mostBytes = KeyedArchive.isArchive(value) ? limits.expandedBytes(ofFile: size) : limits.expandedBytes ?? 1 << 30
    }

    /// Counts values and bytes, and returns the limit that they exceed.
    mutating func spend(values moreValues: Int, bytes moreBytes: Int) -> KeyedArchive.Failure.Problem? {
        values += moreValues
        bytes += moreBytes
        if values > limits.expandedNodes { return .tooManyValues(limit: limits.expandedNodes) }
        return bytes > mostBytes ? .tooManyBytes(limit: mostBytes) : nil
    }

    mutating func record(_ failure: KeyedArchive.Failure) {
        if failures.count < Self.maximumFailures { failures.append(failure) }
    }

    mutating func takeCounts(of inner: ExpansionBudget) {
        (values, bytes, failures) = (inner.values, inner.bytes, inner.failures)
    }
}

extension Data {
    /// Whether the bytes contain ASCII text, in an encoding that extends ASCII.
    fileprivate func contains(_ text: String) -> Bool { firstRange(of: Data(text.utf8)) != nil }
}
