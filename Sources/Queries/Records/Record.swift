public import PropertyLists

extension Query {
    /// A value that a query examines: an element of an array, the value of an entry of a dictionary, or a whole domain.
    public struct Record: Hashable, Sendable {
        /// The value.
        public let value: PropertyList
        /// The key of the entry, which a predicate reads as `@key`.
        public let key: String?
        /// The name of the domain that contains the record, which a predicate reads as `@domain`.
        public let domain: String?
        private let parent: EntryPath
        private let component: EntryPath.Component?

        /// Creates a record for a whole value.
        public init(_ value: PropertyList, domain: String? = nil) {
            self.init(value, domain: domain, parent: [], nil, key: nil)
        }

        private init(
            _ value: PropertyList, domain: String?, parent: EntryPath, _ component: EntryPath.Component?, key: String?
        ) {
            self.value = value
            self.key = key
            self.domain = domain
            self.parent = parent
            self.component = component
        }

        /// Creates a record for an element of an array.
        package init(_ value: PropertyList, at index: Int, of parent: EntryPath, domain: String? = nil) {
            self.init(value, domain: domain, parent: parent, EntryPath.Component(index), key: nil)
        }

        /// Creates a record for an entry of a dictionary.
        package init(_ value: PropertyList, under key: String, of parent: EntryPath, domain: String? = nil) {
            self.init(value, domain: domain, parent: parent, EntryPath.Component(key), key: key)
        }

        /// The path of the record in the value that was queried.
        public var path: EntryPath { component.map { EntryPath(parent.components + [$0]) } ?? parent }

        /// Returns the record with another value.
        package func replacing(_ value: PropertyList) -> Query.Record {
            Record(value, domain: domain, parent: parent, component, key: key)
        }
    }
}

extension PropertyList {
    /// Calls `body` with each record at a path: the elements of an array, or the entries of a dictionary. A component
    /// `*` matches every element or entry. A scalar at the end of the path is a record itself.
    package func forEachRecord<Failure: Error>(
        at path: EntryPath, domain: String? = nil, _ body: (Query.Record) throws(Failure) -> Void
    ) throws(Failure) {
        try forEachRecord(path.components[...], [], domain, body)
    }

    private func forEachRecord<Failure: Error>(
        _ rest: ArraySlice<EntryPath.Component>, _ place: [EntryPath.Component], _ domain: String?,
        _ body: (Query.Record) throws(Failure) -> Void
    ) throws(Failure) {
        let parent = EntryPath(place)
        guard let next = rest.first else {
            switch self {
            case .array(let elements):
                for (index, element) in elements.enumerated() {
                    try body(Record(element, at: index, of: parent, domain: domain))
                }
            case .dictionary(let entries):
                for entry in entries { try body(Record(entry.value, under: entry.key, of: parent, domain: domain)) }
            default: try body(Record(self, endingAt: place, domain: domain))
            }
            return
        }
        guard next == .every else {
            try self[[next]]?.forEachRecord(rest.dropFirst(), place + [next], domain, body)
            return
        }
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try element.forEachRecord(rest.dropFirst(), place + [EntryPath.Component(index)], domain, body)
            }
        case .dictionary(let entries):
            for entry in entries {
                try entry.value.forEachRecord(rest.dropFirst(), place + [EntryPath.Component(entry.key)], domain, body)
            }
        default: break
        }
    }
}

extension Query.Record {
    fileprivate init(_ value: PropertyList, endingAt place: [EntryPath.Component], domain: String?) {
        self.init(value, domain: domain, parent: EntryPath(place.dropLast()), place.last, key: nil)
    }
}

extension EntryPath.Component {
    /// Matches every element or entry in the path of a query.
    package static let every = EntryPath.Component("*")
}
