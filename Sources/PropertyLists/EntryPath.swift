/// The path to an entry inside a value: `:apps:0:name`.
///
/// A component names a key of a dictionary. In an array, an integer component names an element, and −1 names the last
/// one. An empty last component names the place after the last element.
public struct EntryPath: Hashable, Sendable {
    /// One step of a path.
    public struct Component: Hashable, Sendable {
        package let name: Name

        /// The key, or the index in digits.
        public var text: String { name.text }

        /// Creates a component that names an entry of a dictionary.
        public init(_ text: String) { name = Name(text) }
        /// Creates a component that names an element of an array.
        public init(_ index: Int) { self.init(String(index)) }

        /// The place after an array's last element.
        public static let end = Component("")

        /// The index that this component names in an array, or nil if it is not an integer.
        public var index: Int? {
            // `Int` would also accept a plus sign.
            text.unicodeScalars.first == "+" ? nil : Int(text)
        }

        /// Whether the component is an integer, even one greater than any index.
        var isInteger: Bool {
            let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
            return !digits.isEmpty && digits.count + 1 >= text.utf8.count && digits.allSatisfy { $0 &- 0x30 <= 9 }
        }
    }

    /// The components from the root to the entry.
    public var components: [Component]

    /// Creates a path. Without components, it is the path of the root.
    public init(_ components: [Component] = []) { self.components = components }
}

extension EntryPath {
    /// Parses `:a:b`. A colon or a backslash inside a component is escaped by a backslash, and an asterisk may be.
    public init(parsing text: String) throws(Failure) {
        components = try Self.parts(of: text).map { Component($0.text) }
    }

    /// Returns the texts of the components, each with whether it has an escape.
    fileprivate static func parts(of text: String) throws(Failure) -> [(text: String, hasEscape: Bool)] {
        guard text.unicodeScalars.first == ":" else { throw .notAPath(text) }
        var parts: [(text: String, hasEscape: Bool)] = [("", false)]
        var isEscaped = false
        for scalar in text.unicodeScalars.dropFirst() {
            if isEscaped {
                guard scalar == ":" || scalar == "\\" || scalar == "*" else {
                    throw .unknownEscape(text, "\\\(scalar)")
                }
                parts[parts.count - 1].text.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
                parts[parts.count - 1].hasEscape = true
            } else if scalar == ":" {
                parts.append(("", false))
            } else {
                parts[parts.count - 1].text.unicodeScalars.append(scalar)
            }
        }
        guard !isEscaped else { throw .unknownEscape(text, "\\") }
        return parts
    }

    /// The reason a path, or the entry that it names, is invalid.
    public struct Failure: Error, Hashable, Sendable {
        /// The kinds of failure.
        package enum Problem: Hashable, Sendable {
            /// The text does not begin with a colon.
            case notAPath
            /// A backslash before something other than a colon, a backslash or an asterisk.
            case unknownEscape(String)
            /// A component names an entry of a value that is neither a dictionary nor an array.
            case notAContainer(PropertyList.Kind)
            /// A component that is not an integer names an element of an array.
            case notAnIndex
            /// The array has no such element.
            case outOfBounds(count: Int)
            /// An element of an array that does not exist; only the place after the last one can be created.
            case missingArray
            /// The place after the last element, in a dictionary.
            case endOfDictionary
            /// An empty key that does not exist.
            case emptyKey
            /// The path exceeds the nesting limit.
            case nestedTooDeeply(limit: Int)
        }

        /// The kind of failure.
        package let problem: Problem
        /// The path up to and including the invalid component, or the text that is not a path.
        public let place: String

        package init(problem: Problem, place: String) {
            self.problem = problem
            self.place = place
        }

        static func notAPath(_ text: String) -> Failure { Failure(problem: .notAPath, place: text) }
        static func unknownEscape(_ text: String, _ escape: String) -> Failure {
            Failure(problem: .unknownEscape(escape), place: text)
        }
    }
}

/// A path in which a component `*` matches every entry of a container: `:objects:*:name`. `\*` is the key `*`.
package struct EntryPattern: Hashable, Sendable {
    /// One step of a pattern.
    package enum Component: Hashable, Sendable {
        case every
        case one(EntryPath.Component)
    }

    /// The components from the root to the entries.
    package let components: [Component]

    package init(_ components: [Component]) { self.components = components }

    /// Parses `:a:*:b`.
    package init(parsing text: String) throws(EntryPath.Failure) {
        components = try EntryPath.parts(of: text).map { part in
            part.text == "*" && !part.hasEscape ? .every : .one(EntryPath.Component(part.text))
        }
    }
}

extension EntryPath: CustomStringConvertible {
    public var description: String { components.map { ":" + $0.escaped }.joined() }
}

extension EntryPath.Component {
    /// The component as written in a path.
    fileprivate var escaped: String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar == ":" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}

extension EntryPath.Component: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self.init(value) }
    public init(integerLiteral value: Int) { self.init(value) }
}

extension EntryPath: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Component...) { self.init(elements) }
}

extension EntryPath.Failure: CustomStringConvertible {
    public var description: String {
        switch problem {
        case .notAPath: "\(place): an entry path begins with a colon"
        case .unknownEscape(let escape): "\(place): \(escape) is not an escape; only \\:, \\\\ and \\* are"
        case .notAContainer(let kind): "\(place): leads into a value of type \(kind.rawValue)"
        case .notAnIndex: "\(place): an array has numbered elements"
        case .outOfBounds(let count): "\(place): there \(count == 1 ? "is 1 element" : "are \(count) elements")"
        case .missingArray: "\(place): there is no array yet; an empty last component (\(arrayPlace)) begins one"
        case .endOfDictionary: "\(place): a dictionary has no end, as an array has"
        case .emptyKey: "\(place): a key must not be empty"
        case .nestedTooDeeply(let limit): "\(place): containers more than \(limit) levels deep"
        }
    }

    private var arrayPlace: String {
        let scalars = place.unicodeScalars
        return String(scalars[...(scalars.lastIndex(of: ":") ?? scalars.startIndex)])
    }
}

extension PropertyList {
    /// The entry at `path`, or nil if there is none. Setting an entry that cannot exist changes nothing.
    public subscript(path: EntryPath) -> PropertyList? {
        get {
            var value = self
            for component in path.components {
                guard let next = value.child(component) else { return nil }
                value = next
            }
            return value
        }
        set {
            if let newValue {
                try? set(newValue, at: path)
            } else {
                _ = try? remove(at: path)
            }
        }
    }

    fileprivate func child(_ component: EntryPath.Component) -> PropertyList? {
        switch self {
        case .dictionary: self[component.text]
        case .array: component.index.flatMap { self[$0] }
        default: nil
        }
    }

    /// Sets the value at `path`. Missing dictionaries on the path are created; a scalar on the path is an error.
    public mutating func set(_ value: PropertyList, at path: EntryPath) throws(EntryPath.Failure) {
        try edit(path) { entry in entry = value }
    }

    /// Throws if a user's path has an empty component other than the place after the last element of an array.
    /// `set(_:at:)` treats it as an empty key, because files can contain one. A user means an empty key only if the key
    /// exists.
    package func checkEmptyKeys(of path: EntryPath) throws(EntryPath.Failure) {
        for (depth, component) in path.components.enumerated() where component == .end {
            let container = EntryPath(Array(path.components[..<depth]))
            guard self[EntryPath(container.components + [component])] == nil else { continue }
            guard depth == path.components.count - 1 else { throw path.failure(.emptyKey, at: depth) }
            if self[container]?.kind == .dictionary { throw path.failure(.endOfDictionary, at: depth) }
        }
    }

    /// Removes the entry at `path` and returns it, or returns nil if there is none.
    @discardableResult
    public mutating func remove(at path: EntryPath) throws(EntryPath.Failure) -> PropertyList? {
        guard self[path] != nil, !path.components.isEmpty else { return nil }
        return try edit(path) { entry in
            defer { entry = nil }
            return entry
        }
    }

    /// Changes the entry at `path` in place, without copying the containers around it.
    ///
    /// `body` receives nil if there is no entry, and sets nil to remove the entry. A path that exceeds the default
    /// nesting limit is refused, because no writer would accept the result.
    public mutating func edit<Result>(
        _ path: EntryPath, _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        let limit = Limits.default.nesting
        guard path.components.count <= limit else {
            let place = EntryPath(Array(path.components[...limit]))
            throw EntryPath.Failure(problem: .nestedTooDeeply(limit: limit), place: place.description)
        }
        var root: PropertyList? = self
        self = .boolean(false)
        defer { self = root ?? .dictionary([:]) }
        return try Self.edit(&root, path, 0, body)
    }

    private static func edit<Result>(
        _ value: inout PropertyList?, _ path: EntryPath, _ depth: Int,
        _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        guard depth < path.components.count else { return try body(&value) }
        switch value?.kind {
        case .dictionary:
            var dictionary = value.takeDictionary()
            defer { value = .dictionary(dictionary) }
            return try dictionary.withValue(forKey: path.components[depth].text) { entry throws(EntryPath.Failure) in
                try edit(&entry, path, depth + 1, body)
            }
        case .array:
            var elements = value.takeArray()
            defer { value = .array(elements) }
            return try edit(elementOf: &elements, path, depth, body)
        case nil: return try edit(missing: &value, path, depth, body)
        case let kind?: throw path.failure(.notAContainer(kind), at: depth)
        }
    }

    private static func edit<Result>(
        elementOf elements: inout [PropertyList], _ path: EntryPath, _ depth: Int,
        _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        let component = path.components[depth]
        if component == .end, path.isLast(depth) {
            var entry: PropertyList?
            let result = try body(&entry)
            if let entry { elements.append(entry) }
            return result
        }
        guard component.isInteger else { throw path.failure(.notAnIndex, at: depth) }
        guard let position = component.index?.position(among: elements.count) else {
            throw path.failure(.outOfBounds(count: elements.count), at: depth)
        }
        var element: PropertyList? = .boolean(false)
        swap(&element!, &elements[position])
        defer {
            if let element { elements[position] = element } else { elements.remove(at: position) }
        }
        return try edit(&element, path, depth + 1, body)
    }

    /// Creates a missing container on the path, and keeps it if `body` adds an entry to it.
    private static func edit<Result>(
        missing value: inout PropertyList?, _ path: EntryPath, _ depth: Int,
        _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        let component = path.components[depth]
        if component.isInteger { throw path.failure(.missingArray, at: depth) }
        var created: PropertyList? = component == .end && path.isLast(depth) ? .array([]) : .dictionary([:])
        let result = try edit(&created, path, depth, body)
        if let created, created != .dictionary([:]), created != .array([]) { value = created }
        return result
    }
}

extension EntryPath {
    /// Returns the path with each index of an element of `root` counted from the first element: `:list:2` instead of
    /// `:list:-1`.
    package func resolved(in root: PropertyList) -> EntryPath {
        var value: PropertyList? = root
        return EntryPath(
            components.map { component in
                defer { value = value?.child(component) }
                guard case .array(let elements)? = value else { return component }
                return component.index?.position(among: elements.count).map { Component($0) } ?? component
            })
    }

    fileprivate func isLast(_ depth: Int) -> Bool { depth == components.count - 1 }

    fileprivate func failure(_ problem: Failure.Problem, at depth: Int) -> Failure {
        Failure(problem: problem, place: EntryPath(Array(components[...depth])).description)
    }
}

extension Int {
    /// The position that this index names among `count` elements, or nil if it is out of bounds. A negative index
    /// counts from the end.
    package func position(among count: Int) -> Int? {
        let position = self < 0 ? self + count : self
        return 0..<count ~= position ? position : nil
    }
}

/// These methods move a container out of its place. It then has a single owner and is changed in place.
extension PropertyList? {
    fileprivate mutating func takeArray() -> [PropertyList] {
        guard case .array(let elements) = self else { return [] }
        self = nil
        return elements
    }

    fileprivate mutating func takeDictionary() -> PropertyList.Dictionary {
        guard case .dictionary(let dictionary) = self else { return [:] }
        self = nil
        return dictionary
    }
}
