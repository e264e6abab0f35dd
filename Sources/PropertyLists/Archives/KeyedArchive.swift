/// The contents of a file that NSKeyedArchiver wrote, as plain values. No class is ever instantiated.
///
/// Strings, numbers, dates, data, arrays, sets and dictionaries become the values that property lists have for them,
/// and other classes these:
///
/// | class | value |
/// |---|---|
/// | NSURL, NSUUID | text |
/// | NSNull | `{"$null": true}` |
/// | NSAttributedString | text, or `{"string": …, "attributes": [{"location": …, "length": …, "attributes": …}]}` |
/// | NSIndexSet | `[{"location": …, "length": …}]` |
/// | NSValue | `{"x": …, "y": …}`, `{"width": …, "height": …}`, all four, or `{"location": …, "length": …}` |
/// | NSColor, UIColor | `{"red": …, "green": …, "blue": …, "alpha": …}`, or its white, CMYK or catalog components |
/// | NSFont, UIFont | `{"name": …, "size": …}` |
/// | any other | `{"$class": "Name", …}` with its fields, of which those that are nil are left out |
///
/// An object with children that is referred to again, also from inside itself, is `{"$ref": ":path"}` there: the path
/// of its first occurrence in `value`. A dictionary with other keys than strings has the form of any other class. In
/// dictionaries the keys `$class`, `$ref` and `$null` have their `$` doubled.
public struct KeyedArchive: Hashable, Sendable {
    /// The archive as it is stored: `$objects`, and references to them by number.
    public let propertyList: PropertyList
    /// The names of the archive's roots; usually only `root`.
    public let roots: [String]
    /// The contents: those of the root, or a dictionary if there are several roots.
    public let value: PropertyList

    /// Opens an archive that was read from a file.
    public init(_ archive: PropertyList, limits: PropertyList.Limits = .default) throws(Failure) {
        var budget = ExpansionBudget(limits, opening: archive)
        try self.init(archive, prefix: "", opensData: false, budget: &budget)
    }

    /// Makes an archive that NSKeyedUnarchiver reads, with one root named `root`.
    ///
    /// `value` has the form that is described above. In an object of a class without a form of its own, integers, reals
    /// and booleans are stored as numbers (`encode(_: Int, forKey:)`), all other fields as objects.
    public init(archiving value: PropertyList, limits: PropertyList.Limits = .default) throws(Failure) {
        propertyList = try ArchiveWriter.archive(of: value, limits: limits)
        roots = ["root"]
        self.value = value
    }

    /// The contents of one root.
    public func value(of root: String) -> PropertyList? {
        guard roots.contains(where: { $0.hasSameBytes(as: root) }) else { return nil }
        return roots.count == 1 ? value : value[ArchiveKey.escaped(root)]
    }

    /// Returns whether a value has the form of an archive.
    public static func isArchive(_ value: PropertyList) -> Bool {
        value["$archiver"]?.kind == .string && value["$objects"]?.kind == .array && value["$top"]?.kind == .dictionary
    }
}

extension KeyedArchive {
    /// Opens `value` if it is an archive, and every archive in data inside it.
    ///
    /// References inside an opened archive are paths in the returned value. Data that has the form of an archive and
    /// cannot be opened stays data, and is among the failures, of which at most 100 are returned.
    public static func openAll(
        in value: PropertyList, limits: PropertyList.Limits = .default
    ) throws(Failure) -> (value: PropertyList, failures: [Failure]) {
        var budget = ExpansionBudget(limits, opening: value)
        if isArchive(value) {
            let archive = try KeyedArchive(value, prefix: "", opensData: true, budget: &budget)
            return (archive.value, budget.failures)
        }
        var reader = ArchiveReader(objects: nil, prefix: "", opensData: true, budget: budget)
        return (try reader.resolve(.asIs(value)), reader.budget.failures)
    }

    init(
        _ archive: PropertyList, prefix: String, opensData: Bool, budget: inout ExpansionBudget
    ) throws(Failure) {
        guard Self.isArchive(archive), let objects = archive["$objects"]?.arrayValue,
            let top = archive["$top"]?.dictionaryValue
        else { throw Failure(.notAnArchive) }
        propertyList = archive
        roots = Array(top.keys)
        var reader = ArchiveReader(
            objects: ArchivedObjects(objects), prefix: prefix, opensData: opensData, budget: budget)
        defer { budget = reader.budget }
        value = try reader.resolve(.archived(top.count == 1 ? top[0].value : .dictionary(top)))
    }
}

// MARK: Failures

extension KeyedArchive {
    /// Why an archive cannot be opened, or a value cannot be archived.
    public struct Failure: Error, Hashable, Sendable {
        /// What is wrong.
        public let problem: Problem
        /// The position in `$objects` of the object in which it was found; nil outside them.
        public let object: Int?
        /// The path of the value that cannot be archived, or of the data whose archive cannot be opened.
        public let path: EntryPath

        package init(_ problem: Problem, object: Int? = nil, path: EntryPath = EntryPath()) {
            self.problem = problem
            self.object = object
            self.path = path
        }

        /// The kinds of problem. A program that switches over them must be ready for new ones.
        @nonexhaustive
        public enum Problem: Hashable, Sendable {
            /// `$archiver`, `$objects` or `$top` is missing or of another type.
            case notAnArchive
            /// A reference to an object that does not exist.
            case danglingReference(UInt64, count: Int)
            /// An object without a reference to its class.
            case missingClass
            /// The object that is referred to as a class is none.
            case invalidClass(Int)
            /// The object is an array or a reference.
            case unexpectedKind(PropertyList.Kind)
            /// The fields of an array, set or dictionary do not fit together.
            case invalidContents(className: String)
            case duplicateKey(String)
            case nestedTooDeeply(limit: Int)
            case tooManyValues(limit: Int)
            case tooManyBytes(limit: Int)
            /// The data cannot be read as a property list.
            case unreadable(String)
            /// A `$ref` whose path leads to no object.
            case unresolvedReference(String)
            /// An archive cannot hold values of this kind.
            case kindNotSupported(PropertyList.Kind)
        }
    }
}

extension KeyedArchive.Failure: CustomStringConvertible {
    public var description: String {
        let entry = path.components.isEmpty ? "" : "\(path.shown): "
        return entry + (object.map { "object \($0): " } ?? "") + reason
    }

    private var reason: String {
        switch problem {
        case .notAnArchive: "not a keyed archive"
        case .danglingReference(let number, let count):
            "refers to object \(number), but there \(count == 1 ? "is 1 object" : "are \(count) objects")"
        case .missingClass: "an object without a class"
        case .invalidClass(let number): "object \(number) is not a class"
        case .unexpectedKind(let kind): "expected an object, not a value of type \(kind.rawValue)"
        case .invalidContents(let name): "invalid contents of \(shortened(name))"
        case .duplicateKey(let key): "duplicate key \u{201C}\(shortened(key))\u{201D}"
        case .nestedTooDeeply(let limit): "containers more than \(limit) levels deep"
        case .tooManyValues(let limit): "more than \(limit) values"
        case .tooManyBytes(let limit): "more than \(limit) bytes if each reference to a value is counted"
        case .unreadable(let reason): reason
        case .unresolvedReference(let path): "no object for the reference \u{201C}\(shortened(path))\u{201D}"
        case .kindNotSupported(let kind): "a keyed archive cannot hold a value of type \(kind.rawValue)"
        }
    }
}

// MARK: Vocabulary of opened archives

/// The keys of dictionaries that have a meaning in opened archives.
enum ArchiveKey {
    static let className = "$class"
    static let reference = "$ref"
    static let all = [className, reference, "$null"]

    /// NSNull, and a root or element that is nil.
    static let null: PropertyList = .dictionary(["$null": .boolean(true)])

    /// Returns a key of a dictionary with its `$` doubled if it would be mistaken for one with a meaning.
    static func escaped(_ key: String) -> String { isReserved(key) ? "$" + key : key }

    /// Returns the key that was escaped.
    static func unescaped(_ key: String) -> String {
        key.utf8.starts(with: "$$".utf8) && isReserved(key) ? String(key.unicodeScalars.dropFirst()) : key
    }

    /// Whether the key is `$class`, `$ref` or `$null`, with any number of `$`.
    private static func isReserved(_ key: String) -> Bool {
        guard key.utf8.first == UInt8(ascii: "$") else { return false }
        let name = key.utf8.drop { $0 == UInt8(ascii: "$") }
        return all.contains { $0.utf8.dropFirst().elementsEqual(name) }
    }
}
