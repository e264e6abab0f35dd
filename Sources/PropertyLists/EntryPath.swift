/// The way to an entry inside a value: `:apps:0:name`.
///
/// A component names a key of a dictionary or, where it is an integer and meets an array, an element; −1 is the last
/// one. An empty last component stands for the place after the last element.
public struct EntryPath: Hashable, Sendable {
    /// One step of a path.
    public struct Component: Hashable, Sendable {
        /// The key, or the index in digits.
        public let text: String

        /// Names an entry of a dictionary.
        public init(_ text: String) { self.text = text }
        /// Names an element of an array.
        public init(_ index: Int) { text = String(index) }

        /// The place after an array's last element.
        public static let end = Component("")

        /// The element that this component names in an array.
        public var index: Int? {
            // `Int` would also take a plus sign.
            text.unicodeScalars.first == "+" ? nil : Int(text)
        }

        /// Whether it is an integer, be it greater than any index.
        var isInteger: Bool {
            let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
            return !digits.isEmpty && digits.count + 1 >= text.utf8.count && digits.allSatisfy { $0 &- 0x30 <= 9 }
        }

        public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

        public func hash(into hasher: inout Hasher) {
            text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// The way from the root to the entry.
    public var components: [Component]

    /// Goes through these; without any, it is the root itself.
    public init(_ components: [Component] = []) { self.components = components }
}

extension EntryPath {
    /// Reads `:a:b`. A colon or a backslash inside a component stands behind a backslash.
    public init(parsing text: String) throws(Failure) {
        guard text.unicodeScalars.first == ":" else { throw .notAPath(text) }
        var components: [Component] = []
        var current = ""
        var isEscaped = false
        for scalar in text.unicodeScalars.dropFirst() {
            if isEscaped {
                guard scalar == ":" || scalar == "\\" else { throw .unknownEscape(text, "\\\(scalar)") }
                current.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == ":" {
                components.append(Component(current))
                current = ""
            } else {
                current.unicodeScalars.append(scalar)
            }
        }
        guard !isEscaped else { throw .unknownEscape(text, "\\") }
        components.append(Component(current))
        self.components = components
    }

    /// What is wrong with a path, or with the way that it asks for.
    public struct Failure: Error, Hashable, Sendable {
        /// The kinds of failure.
        @nonexhaustive
        public enum Problem: Hashable, Sendable {
            /// The text does not begin with a colon.
            case notAPath
            /// A backslash stands before something other than a colon or a backslash.
            case unknownEscape(String)
            /// A component leads into a value that is neither dictionary nor array.
            case notAContainer(PropertyList.Kind)
            /// A component that is no integer meets an array.
            case notAnIndex
            /// The array has no such element.
            case outOfBounds(count: Int)
            /// An element of an array that does not exist; only the place after the last one can be created.
            case missingArray
            /// The place after the last element of a dictionary, which has none.
            case endOfDictionary
            /// The path leads deeper than containers may stand inside one another.
            case nestedTooDeeply(limit: Int)
        }

        /// What is wrong with the path.
        public let problem: Problem
        /// The way up to and including the component at fault, or the text that is no path.
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

extension EntryPath: CustomStringConvertible {
    public var description: String { components.map { ":" + $0.escaped }.joined() }
}

extension EntryPath.Component {
    /// The component as it stands in a path.
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
        case .unknownEscape(let escape): "\(place): \(escape) is no escape; only \\: and \\\\ are"
        case .notAContainer(let kind): "\(place): leads into a value of type \(kind.rawValue)"
        case .notAnIndex: "\(place): an array has numbered elements"
        case .outOfBounds(let count): "\(place): there \(count == 1 ? "is 1 element" : "are \(count) elements")"
        case .missingArray: "\(place): there is no array yet; an empty last component (\(arrayPlace)) begins one"
        case .endOfDictionary: "\(place): a dictionary has no end, as an array has"
        case .nestedTooDeeply(let limit): "\(place): containers more than \(limit) levels deep"
        }
    }

    private var arrayPlace: String {
        let scalars = place.unicodeScalars
        return String(scalars[...(scalars.lastIndex(of: ":") ?? scalars.startIndex)])
    }
}
