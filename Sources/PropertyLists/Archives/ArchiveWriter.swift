#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes keyed archives, without recursion.
struct ArchiveWriter {
    private enum Kind {
        case array, dictionary
        case object(className: String)
        /// The array in a field of a collection. It is not an object.
        case field
    }

    private struct Frame {
        let kind: Kind
        let children: [(key: String, value: PropertyList)]
        var next = 0
        /// The archived form of each child so far.
        var results: [PropertyList] = []
        let place: Int
    }

    private struct Child: Hashable {
        let place: Int
        let component: EntryPath.Component
    }

    private let root: PropertyList
    private let limits: PropertyList.Limits
    private var values = 0
    private var objects: [PropertyList] = [.string("$null")]
    private var scalars: [PropertyList: UInt64] = [:]
    private var classes: [Name: UInt64] = [:]
    private var frames: [Frame] = []
    /// The object of each container, indexed by its place, or nil for the array in a field.
    private var objectsOfPlaces: [Int?] = []
    private var children: [Child: Int] = [:]
    /// The text of each `$ref`, and the path of its entry. Until all objects are known, reference n is written as the
    /// placeholder `UInt64.max - n`.
    private var references: [(text: String, path: EntryPath)] = []

    static func archive(
        of value: PropertyList, limits: PropertyList.Limits
    ) throws(KeyedArchive.Failure) -> PropertyList {
        var writer = ArchiveWriter(value, limits: limits)
        let root = try writer.run()
        return [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": root],
            "$objects": .array(writer.objects),
        ]
    }

    private init(_ root: PropertyList, limits: PropertyList.Limits) {
        self.root = root
        self.limits = limits
    }

    /// Adds all objects, and returns the reference to the root.
    private mutating func run() throws(KeyedArchive.Failure) -> PropertyList {
        let result = try reference(to: root, as: nil, inField: false)
        while let last = frames.indices.last {
            let next = frames[last].next
            guard next < frames[last].children.count else {
                end(frames.removeLast())
                continue
            }
            frames[last].next += 1
            let child = frames[last].children[next]
            let component = EntryPath.Component(child.key)
            if case .object(let name) = frames[last].kind {
                let result = try field(child.value, component, of: name)
                frames[last].results.append(result)
            } else {
                let result = try reference(to: child.value, as: component, inField: false)
                frames[last].results.append(result)
            }
        }
        return try resolveReferences(root: result)
    }

    /// Returns the contents of an object's field: a number or a reference.
    private mutating func field(
        _ value: PropertyList, _ component: EntryPath.Component, of className: String
    ) throws(KeyedArchive.Failure) -> PropertyList {
        let key = component.text
        switch value {
        case .integer, .real, .boolean:
            // Foundation stores the numbers of a range as objects.
            guard !key.hasPrefix("NS.rangeval.") else { break }
            try count(1)
            return value
        case .data where key == "NS.uuidbytes" || className == "NSMutableData":
            try count(1)
            return value
        case .array where ["NS.objects", "NS.keys"].contains(key):
            return try reference(to: value, as: component, inField: true)
        default: break
        }
        return try reference(to: value, as: component, inField: false)
    }

    /// Returns the reference to the object of a value. The object of a container is begun here and completed by `run`.
    private mutating func reference(
        to value: PropertyList, as component: EntryPath.Component?, inField: Bool
    ) throws(KeyedArchive.Failure) -> PropertyList {
        try count(1)
        switch value {
        case .array(let elements):
            let children = elements.enumerated().map { (key: String($0.offset), value: $0.element) }
            return try begin(inField ? .field : .array, children, as: component)
        case .dictionary(let entries):
            if value == ArchiveKey.null { return object(of: "NSNull") }
            if case .string(let text)? = entries[ArchiveKey.reference], entries.count == 1 {
                references.append((text, path(to: component)))
                return .uid(.max - UInt64(references.count - 1))
            }
            try count(entries.count)
            guard case .string(let name)? = entries[ArchiveKey.className] else {
                return try begin(.dictionary, entries.map { ($0.key, $0.value) }, as: component)
            }
            let fields = entries.filter { $0.key != ArchiveKey.className }.map { ($0.key, $0.value) }
            return try begin(.object(className: name), fields, as: component)
        case .uid: throw KeyedArchive.Failure(.kindNotSupported(.uid), path: path(to: component))
        default: return scalar(value)
        }
    }

    private mutating func begin(
        _ kind: Kind, _ children: [(key: String, value: PropertyList)], as component: EntryPath.Component?
    ) throws(KeyedArchive.Failure) -> PropertyList {
        guard frames.count < limits.nesting else {
            throw KeyedArchive.Failure(.nestedTooDeeply(limit: limits.nesting), path: path(to: component))
        }
        let place = objectsOfPlaces.count
        if let parent = frames.last?.place, let component {
            self.children[Child(place: parent, component: component)] = place
        }
        frames.append(Frame(kind: kind, children: children, place: place))
        if case .field = kind {
            objectsOfPlaces.append(nil)
            return .array([])
        }
        objectsOfPlaces.append(objects.count)
        // A placeholder, which `end` replaces.
        objects.append(.array([]))
        return .uid(UInt64(objects.count - 1))
    }

    private mutating func end(_ frame: Frame) {
        var fields: PropertyList.Dictionary = [:]
        switch frame.kind {
        case .array:
            fields["NS.objects"] = .array(frame.results)
            fields["$class"] = reference(toClass: "NSArray")
        case .dictionary:
            fields["NS.keys"] = .array(frame.children.map { scalar(.string(ArchiveKey.unescaped($0.key))) })
            fields["NS.objects"] = .array(frame.results)
            fields["$class"] = reference(toClass: "NSDictionary")
        case .object(let name):
            for (child, result) in zip(frame.children, frame.results) { fields[child.key] = result }
            fields["$class"] = reference(toClass: name)
        case .field:
            if let last = frames.indices.last { frames[last].results[frames[last].next - 1] = .array(frame.results) }
        }
        if let object = objectsOfPlaces[frame.place] { objects[object] = .dictionary(fields) }
    }

    /// Returns the reference to a scalar. Equal scalars share one object.
    private mutating func scalar(_ value: PropertyList) -> PropertyList {
        if let object = scalars[value] { return .uid(object) }
        let object = UInt64(objects.count)
        scalars[value] = object
        switch value {
        case .date(let date):
            objects.append(.boolean(false))
            objects[Int(object)] = [
                "NS.time": .real(date.timeIntervalSinceReferenceDate), "$class": reference(toClass: "NSDate"),
            ]
        // A bare string with this text would be read as nil.
        case .string("$null"):
            objects.append(.boolean(false))
            objects[Int(object)] = ["NS.string": value, "$class": reference(toClass: "NSString")]
        default: objects.append(value)
        }
        return .uid(object)
    }

    /// Returns the reference to an object without fields.
    private mutating func object(of className: String) -> PropertyList {
        let object: PropertyList = ["$class": reference(toClass: className)]
        if let known = scalars[object] { return .uid(known) }
        scalars[object] = UInt64(objects.count)
        objects.append(object)
        return .uid(UInt64(objects.count - 1))
    }

    private mutating func reference(toClass name: String) -> PropertyList {
        if let known = classes[Name(name)] { return .uid(known) }
        var names = [name]
        if name.hasPrefix("NSMutable") { names.append(name.replacing("NSMutable", with: "NS", maxReplacements: 1)) }
        if name != "NSObject" { names.append("NSObject") }
        classes[Name(name)] = UInt64(objects.count)
        objects.append(["$classname": .string(name), "$classes": .array(names.map { .string($0) })])
        return .uid(UInt64(objects.count - 1))
    }

    private mutating func count(_ more: Int) throws(KeyedArchive.Failure) {
        values += more
        guard values <= limits.expandedNodes else {
            throw KeyedArchive.Failure(.tooManyValues(limit: limits.expandedNodes))
        }
    }

    /// The path to a child of the innermost container.
    private func path(to component: EntryPath.Component?) -> EntryPath {
        var components = frames.dropLast().map { EntryPath.Component($0.children[$0.next - 1].key) }
        if let component { components.append(component) }
        return EntryPath(components)
    }
}

// MARK: References

extension ArchiveWriter {
    /// Replaces the placeholders of references with the numbers of objects.
    private mutating func resolveReferences(root: PropertyList) throws(KeyedArchive.Failure) -> PropertyList {
        guard !references.isEmpty else { return root }
        var targets: [PropertyList] = []
        for reference in references {
            guard let target = target(of: reference.text) else {
                throw KeyedArchive.Failure(.unresolvedReference(reference.text), path: reference.path)
            }
            targets.append(target)
        }
        func resolved(_ value: PropertyList) -> PropertyList {
            switch value {
            case .uid(let number) where number > .max - UInt64(targets.count): targets[Int(UInt64.max - number)]
            case .array(let elements): .array(elements.map(resolved))
            default: value
            }
        }
        for (position, object) in objects.enumerated() {
            guard case .dictionary(let fields) = object else { continue }
            objects[position] = .dictionary(PropertyList.Dictionary(fields.map { ($0.key, resolved($0.value)) }))
        }
        return resolved(root)
    }

    /// The reference to the object at a path of the value, or nil if no object is there.
    private mutating func target(of text: String) -> PropertyList? {
        guard let path = text.isEmpty ? EntryPath() : try? EntryPath(parsing: text) else { return nil }
        guard root.isContainer, !objectsOfPlaces.isEmpty else { return nil }
        var place = 0
        for (depth, component) in path.components.enumerated() {
            guard let child = children[Child(place: place, component: component)] else {
                guard depth == path.components.count - 1, let value = root[path], !value.isContainer,
                    value.kind != .uid
                else { return nil }
                return scalar(value)
            }
            place = child
        }
        return objectsOfPlaces[place].map { .uid(UInt64($0)) }
    }
}
