/// The contents of a file that NSKeyedArchiver wrote, as plain values. No class is ever instantiated.
///
/// Strings, numbers, dates, data, arrays, sets and dictionaries become values of the corresponding kinds. Objects of
/// other classes become these values:
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
/// | any other, or one with unusual fields | `{"$class": "Name", …}` with its fields, except those that are nil |
///
/// A further reference to an object with children, even from inside the object, is `{"$ref": ":path"}` with the path of
/// its first occurrence in `value`. A dictionary with keys other than strings has the form of any other class. In
/// dictionaries, the `$` of the keys `$class`, `$ref` and `$null` is doubled.
package struct KeyedArchive: Hashable, Sendable {
    /// The archive as it is stored: `$objects`, and references to them by number.
    package let propertyList: PropertyList
    /// The names of the archive's roots; usually only `root`.
    package let roots: [String]
    /// The contents of the root, or a dictionary of the roots if there are several.
    package let value: PropertyList

    /// Opens an archive that was read from a file. Throws if a reference or an object is invalid, or a limit is
    /// exceeded.
    package init(_ archive: PropertyList, limits: PropertyList.Limits = .default) throws(Failure) {
        var budget = ExpansionBudget(limits, opening: archive)
        try self.init(archive, prefix: "", opensData: false, budget: &budget)
    }

    /// Returns the contents of one root, or nil if the archive has no root of this name.
    package func value(of root: String) -> PropertyList? {
        guard roots.contains(where: { $0.hasSameBytes(as: root) }) else { return nil }
        return roots.count == 1 ? value : value[ArchiveKey.escaped(root)]
    }

    /// Returns whether a value has the form of an archive.
    package static func isArchive(_ value: PropertyList) -> Bool {
        value["$archiver"]?.kind == .string && value["$objects"]?.kind == .array && value["$top"]?.kind == .dictionary
    }
}

extension KeyedArchive {
    /// Opens `value` if it is an archive, and every archive in data inside it.
    ///
    /// References inside an opened archive are paths in the returned value. Data that has the form of an archive but
    /// cannot be opened remains data and is reported as a failure. At most 100 failures are returned.
    package static func openAll(
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
    /// Why an archive cannot be opened.
    package struct Failure: Error, Hashable, Sendable {
        /// The kind of failure.
        package let problem: Problem
        /// The position in `$objects` of the invalid object, or nil if the problem is elsewhere.
        package let object: Int?
        /// The path of the data whose archive cannot be opened.
        package let path: EntryPath

        package init(_ problem: Problem, object: Int? = nil, path: EntryPath = EntryPath()) {
            self.problem = problem
            self.object = object
            self.path = path
        }

        /// The kinds of problem.
        package enum Problem: Hashable, Sendable {
            /// `$archiver`, `$objects` or `$top` is missing or has the wrong type.
            case notAnArchive
            /// A reference to an object that does not exist.
            case danglingReference(UInt64, count: Int)
            /// An object without a reference to its class.
            case missingClass
            /// An object that is referred to as a class does not describe a class.
            case invalidClass(Int)
            /// The object is an array or a reference.
            case unexpectedKind(PropertyList.Kind)
            /// The fields of an array, set or dictionary are inconsistent.
            case invalidContents(className: String)
            /// A dictionary of the archive has a duplicate key.
            case duplicateKey(String)
            /// Containers are nested more deeply than the limit.
            case nestedTooDeeply(limit: Int)
            /// More values and keys than the limit, where a shared object is counted at each reference.
            case tooManyValues(limit: Int)
            /// More bytes in values than the limit, where a shared object is counted at each reference.
            case tooManyBytes(limit: Int)
            /// The data cannot be read as a property list.
            case unreadable(String)
        }
    }
}

extension KeyedArchive.Failure: CustomStringConvertible {
    package var description: String {
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
        }
    }
}

// MARK: Vocabulary of opened archives

/// The dictionary keys that are reserved in opened archives.
enum ArchiveKey {
    static let className = "$class"
    static let reference = "$ref"
    static let all = [className, reference, "$null"]

    /// NSNull, and a root or element that is nil.
    static let null: PropertyList = .dictionary(["$null": .boolean(true)])

    /// Returns a dictionary key, with its `$` doubled if it would be mistaken for a reserved one.
    static func escaped(_ key: String) -> String { isReserved(key) ? "$" + key : key }

    /// Whether the key is `$class`, `$ref` or `$null`, with any number of `$`.
    private static func isReserved(_ key: String) -> Bool {
        guard key.utf8.first == UInt8(ascii: "$") else { return false }
        let name = key.utf8.drop { $0 == UInt8(ascii: "$") }
        return all.contains { $0.utf8.dropFirst().elementsEqual(name) }
    }
}
