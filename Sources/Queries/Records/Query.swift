public import PropertyLists

/// A request for the records of a value that satisfy a predicate, in order.
///
///     let query = try Query(where: "read == NO AND age < 7", over: ":messages", sort: "-date", limit: 10)
///     for message in try settings.records(matching: query) { … }
public struct Query: Sendable {
    /// The condition that a record must satisfy.
    public var predicate: Predicate
    /// The path of the array or dictionary whose elements or entries are the records. A component `*` matches every
    /// element or entry. If the path is empty, the records are the elements or entries of the value itself.
    public var over: EntryPath
    /// The keys by which the records are sorted, most significant first; empty for the order of the value.
    public var order: Order
    /// The number of records to skip.
    public var offset: Int
    /// The maximum number of records, or nil for all.
    public var limit: Int?

    /// Creates a query. Throws if the predicate or a key cannot be compiled.
    ///
    /// - Parameters:
    ///   - text: The predicate.
    ///   - over: The path of the records.
    ///   - sort: Keys separated by commas; a minus sign before a key reverses its order.
    ///   - offset: The number of records to skip.
    ///   - limit: The maximum number of records, or nil for all.
    public init(
        where text: String = "TRUEPREDICATE", over: EntryPath = [], sort: String = "", offset: Int = 0,
        limit: Int? = nil
    ) throws(Query.Predicate.Failure) {
        predicate = try Predicate(text)
        self.over = over
        order = try Order(sort)
        self.offset = offset
        self.limit = limit
    }

    /// Returns the query with variables replaced by values, which are never parsed. Throws if a value cannot be used in
    /// its place, such as an invalid pattern.
    public func bound(to values: [String: PropertyList]) throws(Query.Predicate.Failure) -> Query {
        try bound(to: Dictionary(uniqueKeysWithValues: values.map { (Name($0), $1) }))
    }

    package func bound(to values: [Name: PropertyList]) throws(Query.Predicate.Failure) -> Query {
        var query = self
        query.predicate = try predicate.bound(to: values)
        return query
    }
}

extension PropertyList {
    /// Returns the records that satisfy a query. Throws if a variable has no value or a limit is exceeded.
    public func records(matching query: Query) throws(Query.Predicate.Failure) -> [Query.Record] {
        var selection = Selection(query)
        try forEachRecord(at: query.over) { record throws(Query.Predicate.Failure) in try selection.add(record) }
        return selection.records
    }
}

extension Query {
    /// The keys that the query reads from a record, or nil if it may read any.
    package var fields: Set<Name>? {
        predicate.fields.flatMap { fields in order.fields.map(fields.union) }
    }
}

extension Query.Summary {
    /// Returns the summary of the values that records have under a key, or nil if there is none.
    package func value(of key: Query.Key, in records: some Sequence<Query.Record>) -> PropertyList? {
        of(records.lazy.map { key.evaluated(in: $0) }).propertyList
    }
}

/// Collects the records that satisfy a query.
package struct Selection {
    private let query: Query
    private var evaluator: Evaluator
    private var found: [Record] = []
    /// The keys to look for that no record so far has.
    package private(set) var missing: Set<Name>
    /// The keys of the first records.
    package private(set) var known: Set<Name> = []
    /// Whether there was a record.
    package private(set) var isEmpty = true

    /// - Parameter fields: The keys to look for in the records. Those that none has are in `missing`.
    package init(_ query: Query, fields: Set<Name> = []) {
        self.query = query
        missing = fields
        evaluator = Evaluator(query.predicate)
    }

    /// An operation whose operands have types that it cannot combine.
    package struct Mismatch: Hashable, Sendable {
        /// The path of keys to the left operand, if it is a value of the record.
        package let key: String?
        package let `operator`: String
        package let left, right: PropertyList.Kind
    }

    /// The number of records that are left out because a comparison had values of different types, with the first.
    package var mismatches: (count: Int, first: Mismatch)? { evaluator.mismatches }

    /// Adds a record if it satisfies the predicate.
    package mutating func add(_ record: Query.Record) throws(Query.Predicate.Failure) {
        if try matches(record) { append(record) }
    }

    /// Returns whether a record satisfies the predicate. It may lack keys that the predicate does not read.
    package mutating func matches(_ record: Query.Record) throws(Query.Predicate.Failure) -> Bool {
        isEmpty = false
        if !missing.isEmpty { look(for: record.value) }
        return try evaluator.matches(record)
    }

    private static let mostKnown = 100

    private mutating func look(for record: PropertyList) {
        guard case .dictionary(let entries) = record else {
            // A key of an array is that of its elements.
            for element in record.arrayValue ?? [] { look(for: element) }
            return
        }
        for name in missing where entries[name.text] != nil { missing.remove(name) }
        if known.count < Self.mostKnown { known.formUnion(entries.map { Name($0.key) }) }
    }

    /// Adds a record that satisfies the predicate.
    package mutating func append(_ record: Query.Record) { found.append(record) }

    /// The records in the order of the query, from its offset to its limit.
    package var records: [Query.Record] {
        let rest = query.order.sorted(found).dropFirst(max(0, query.offset))
        return Array(rest.prefix(max(0, query.limit ?? .max)))
    }
}

extension Query {
    /// A key path of a record.
    public struct Key: Sendable {
        /// The key path as written.
        public let text: String
        private let expression: Expression

        fileprivate init(_ expression: Expression) {
            self.expression = expression
            text = expression.spelling
        }

        /// Parses key paths separated by commas.
        public static func list(_ text: String) throws(Query.Predicate.Failure) -> [Key] {
            try parsed(text, allowsSigns: false).map(\.key)
        }

        /// Returns the value that a record has under the key path, or nil for NULL.
        public func value(in record: Query.Record) -> PropertyList? { evaluated(in: record).propertyList }

        func evaluated(in record: Query.Record) -> Value {
            var evaluator = Evaluator.unlimited
            // Following a key path fails only beyond the limit of steps, which no value in memory reaches.
            return (try? evaluator.value(of: expression, in: record)) ?? .null
        }

        /// The keys that the path reads from a record, or nil if it may read any.
        package var fields: Set<Name>? {
            var fields = FieldSet()
            fields.insert(expression)
            return fields.names
        }

        static func parsed(
            _ text: String, allowsSigns: Bool
        ) throws(Query.Predicate.Failure) -> [(isNegative: Bool, key: Key)] {
            var parser = try PredicateParser(text, Predicate.Limits())
            return try parser.keys(allowsSigns: allowsSigns).map { ($0.isNegative, Key($0.key)) }
        }
    }
}

extension Evaluator {
    fileprivate static let unlimited = Evaluator(steps: .max)
}

extension Expression {
    /// The key path in the language of predicates.
    fileprivate var spelling: String {
        switch self {
        case .key: return "@key"
        case .domain: return "@domain"
        case .steps(_, let steps):
            let text = steps.map(\.spelling).joined()
            return text.hasPrefix(".") ? String(text.dropFirst()) : text
        default: return "SELF"
        }
    }
}

extension Step {
    fileprivate var spelling: String {
        switch self {
        case .key(let key): ".\(key)"
        case .entry(let component): EntryPath([component]).description
        case .index(let index): "[\(index)]"
        case .count: ".@count"
        case .summary(let summary, let rest): ".@\(summary.operatorName)" + rest.map(\.spelling).joined()
        }
    }
}

extension Value {
    /// The value as a property list; nil for NULL. NULL elements are omitted.
    package var propertyList: PropertyList? {
        switch self {
        case .null: nil
        case .one(let value): value
        case .many(let values): .array(values.compactMap(\.propertyList))
        }
    }
}

// Foundation has types of these names as well.
typealias Predicate = Query.Predicate
typealias Record = Query.Record
typealias Summary = Query.Summary

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
        let components = path.components.map { $0 == .every ? EntryPattern.Component.every : .one($0) }
        try forEachRecord(components[...], [], domain, body)
    }

    /// Calls `body` with each entry that matches a pattern, which ends in `*`. A scalar has no entries.
    package func forEachRecord<Failure: Error>(
        matching pattern: EntryPattern, _ body: (Query.Record) throws(Failure) -> Void
    ) throws(Failure) {
        try forEachRecord(pattern.components.dropLast(), [], nil) { record throws(Failure) in
            if record.path.components.count == pattern.components.count { try body(record) }
        }
    }

    private func forEachRecord<Failure: Error>(
        _ rest: ArraySlice<EntryPattern.Component>, _ place: [EntryPath.Component], _ domain: String?,
        _ body: (Query.Record) throws(Failure) -> Void
    ) throws(Failure) {
        let parent = EntryPath(place)
        switch (rest.first, self) {
        case (nil, .array(let elements)):
            for (index, element) in elements.enumerated() {
                try body(Record(element, at: index, of: parent, domain: domain))
            }
        case (nil, .dictionary(let entries)):
            for entry in entries { try body(Record(entry.value, under: entry.key, of: parent, domain: domain)) }
        case (nil, _): try body(Record(self, endingAt: place, domain: domain))
        case (.one(let next), _):
            try self[[next]]?.forEachRecord(rest.dropFirst(), place + [next], domain, body)
        case (.every, .array(let elements)):
            for (index, element) in elements.enumerated() {
                try element.forEachRecord(rest.dropFirst(), place + [EntryPath.Component(index)], domain, body)
            }
        case (.every, .dictionary(let entries)):
            for entry in entries {
                try entry.value.forEachRecord(rest.dropFirst(), place + [EntryPath.Component(entry.key)], domain, body)
            }
        case (.every, _): break
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
