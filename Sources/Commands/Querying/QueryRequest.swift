internal import Preferences
internal import PropertyLists
internal import Queries
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The request of a command line: a query, and the form of its result.
struct QueryRequest {
    var query: Query
    /// The domain, pattern or file.
    let source: String
    /// Whether the query has the path of its records.
    let hasPath: Bool
    private let selection: [Query.Key]?
    private let distinct: Query.Key?
    private let group: Query.Key?
    private let summaries: [(option: String, summary: Query.Summary, key: Query.Key)]
    private let isCount: Bool

    init(_ invocation: Invocation, _ access: StoreAccess) throws {
        let named = invocation[operand: "SOURCE"] ?? ""
        let words = ["ENTRYPATH", "PREDICATE", "@NAME", "VAR=VALUE"].flatMap { invocation.words($0) }
        var values = try Self.values(invocation.all(.bind))
        if let name = words.first?.queryName {
            let stored = try access.declaredQuery(name, of: named)
            (query, source, hasPath) = (try stored.query(), stored.domain ?? named, true)
            values.merge(try Self.values(words.dropFirst())) { $1 }
        } else {
            guard words.count <= 2 else { throw UsageFailure(.unexpectedOperand(words[2]), path: ["query"]) }
            (source, hasPath) = (named, words.count == 2)
            query = try Query(where: words.last ?? "")
            if hasPath { query.over = try Self.path(words[0]) }
        }
        query = try query.bound(to: values)
        if let missing = query.predicate.variables.first {
            throw CommandFailure(.invalidValue, "no value for $\(missing.onOneLine); add \(missing.onOneLine)=VALUE")
        }
        if let sort = invocation[.order] { query.order = try Query.Order(sort) }
        if let number = invocation[.offset] { query.offset = Int(number) ?? 0 }
        if let number = invocation[.limit] { query.limit = Int(number) }
        if let number = invocation[.steps] { query.predicate.limits.steps = Int(number) ?? 0 }
        query.predicate.isStrict = invocation.has(.strictTypes)
        selection = try invocation[.select].map { try Query.Key.list($0) }
        distinct = try Self.key(invocation, .distinct)
        group = try Self.key(invocation, .group)
        isCount = invocation.has(.count)
        summaries = try [
            (Option.sum, Query.Summary.sum), (.minimum, .minimum), (.maximum, .maximum), (.average, .average),
        ].compactMap { option, summary in
            try Self.key(invocation, option).map { (option: option.name, summary: summary, key: $0) }
        }
        try checkOptions()
    }

    private func checkOptions() throws {
        let forms = [
            selection.map { _ in [Option.select.name] }, distinct.map { _ in [Option.distinct.name] },
            group.map { _ in [Option.group.name] }, summaries.isEmpty || group != nil ? nil : summaries.map(\.option),
        ].compactMap(\.self)
        let counts = isCount && !summaries.isEmpty
        guard forms.count > 1 || counts else { return }
        let names = Array(forms.joined()) + (counts ? [Option.count.name] : [])
        throw CommandFailure(.usage, "these options exclude each other: \(names.joined(separator: ", "))")
    }

    private static func key(_ invocation: Invocation, _ option: Option) throws -> Query.Key? {
        guard let text = invocation[option] else { return nil }
        let keys = try Query.Key.list(text)
        guard keys.count == 1 else { throw CommandFailure(.usage, "\(option.name) takes one key") }
        return keys[0]
    }

    /// Parses the path of the records; `:` is the path of the whole value. A component `*` of a query always matches
    /// every entry.
    static func path(_ text: String) throws -> EntryPath {
        guard try !EntryPattern(parsing: text).components.contains(.one(.every)) else {
            throw CommandFailure(.invalidValue, "\(text.onOneLine): the path of a query cannot name the key *")
        }
        return text == ":" ? [] : try EntryPath(parsing: text)
    }

    /// Parses `VAR=VALUE` and `VAR:TYPE=VALUE`. A value without a type is a number, a Boolean or a string.
    static func values(_ words: some Sequence<String>) throws -> [Name: PropertyList] {
        var values: [Name: PropertyList] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let names = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !names[0].isEmpty else {
                throw CommandFailure(.usage, "\(word.onOneLine): expected VAR=VALUE")
            }
            values[Name(names[0])] = try value(parts[1], type: names.count == 2 ? names[1] : nil, word)
        }
        return values
    }

    private static func value(_ text: String, type: String?, _ word: String) throws -> PropertyList {
        let value: PropertyList?
        switch type {
        case nil:
            return PropertyList.Integer(word: text).map { .integer($0) } ?? Double(word: text).map { .real($0) }
                ?? ["YES": true, "NO": false][text.uppercased()] ?? .string(text)
        case "string": value = .string(text)
        case "integer": value = PropertyList.Integer(word: text).map { .integer($0) }
        case "real": value = Double(word: text).map { .real($0) }
        case "boolean": value = Bool(word: text).map { .boolean($0) }
        case "date": value = (Date(word: text) ?? Date(word: text + "T00:00:00Z")).map { .date($0) }
        case let type?:
            throw CommandFailure(
                .usage, "unknown type \(type.onOneLine); use string, integer, real, boolean or date")
        }
        guard let value else {
            throw CommandFailure(.invalidValue, "\(word.onOneLine): not of type \(type ?? "")")
        }
        return value
    }

    /// Returns whether the query compares or summarizes the entry of the source at `path`.
    func compares(_ path: EntryPath) -> Bool {
        let over = query.over.components
        let isInRecord =
            path.components.count >= over.count
            && zip(path.components, over).allSatisfy { $1 == .every || $0 == $1 }
        guard isInRecord else { return false }
        let summarized = summaries.reduce(query.fields) { names, summary in
            names.flatMap { names in summary.key.fields.map(names.union) }
        }
        // Without a list of keys, the record itself may be compared.
        guard let summarized else { return true }
        return path.components.dropFirst(over.count + 1).first.map { summarized.contains($0.name) } ?? false
    }

    /// The keys that the result needs from a record besides those of the query, or nil if it needs all.
    var fields: Set<Name>? {
        let keys: [Query.Key]
        if let selection {
            keys = selection
        } else if distinct != nil || group != nil || !summaries.isEmpty || isCount {
            keys = [distinct, group].compactMap(\.self) + summaries.map(\.key)
        } else {
            return nil
        }
        return keys.reduce([]) { names, key in names.flatMap { names in key.fields.map(names.union) } }
    }
}

extension String {
    /// The name if the word is `@name`.
    fileprivate var queryName: String? {
        guard utf8.first == UInt8(ascii: "@"), utf8.count > 1 else { return nil }
        let name = String(dropFirst())
        return name.utf8.allSatisfy({ $0.isNameByte }) ? name : nil
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

// MARK: Rows

/// The result of a query.
enum QueryRows {
    /// One value.
    case value(PropertyList?)
    /// Rows with a value, or none, for each column; and the records themselves if the columns are all that they have.
    case table(columns: [String], rows: [[PropertyList?]], records: [PropertyList]? = nil)
}

extension QueryRequest {
    /// Returns the result for records that satisfy the query, in order.
    func rows(of records: QueryRecords) throws -> QueryRows {
        if let group { return grouped(records.all, by: group) }
        if let distinct {
            var seen: Set<PropertyList?> = []
            let values = records.all.map { distinct.value(in: $0) }.filter { seen.insert($0?.unified).inserted }
            let rows = page(values.map { [$0] })
            return isCount ? .count(rows) : .table(columns: [distinct.text], rows: rows)
        }
        let found = page(records.all)
        if isCount { return .count(found) }
        if !summaries.isEmpty {
            let values = summaries.map { $0.summary.value(of: $0.key, in: found) }
            guard values.count > 1 else { return .value(values[0]) }
            return .table(columns: summaries.map { $0.summary.name(of: $0.key) }, rows: [values])
        }
        if let selection {
            return .table(
                columns: selection.map(\.text), rows: found.map { row in selection.map { $0.value(in: row) } })
        }
        return whole(found, records)
    }

    /// The rows from the offset to the limit.
    private func page<Row>(_ rows: [Row]) -> [Row] {
        Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
    }

    private func grouped(_ records: [Query.Record], by key: Query.Key) -> QueryRows {
        var order: [PropertyList?] = []
        var groups: [PropertyList?: [Query.Record]] = [:]
        for record in records {
            let value = key.value(in: record)
            if groups[value?.unified] == nil { order.append(value) }
            groups[value?.unified, default: []].append(record)
        }
        let rows = page(order).map { value in
            let group = groups[value?.unified] ?? []
            return [value, .integer(PropertyList.Integer(group.count))]
                + summaries.map { $0.summary.value(of: $0.key, in: group) }
        }
        if isCount { return .count(rows) }
        return .table(
            columns: [key.text, "@count"] + summaries.map { $0.summary.name(of: $0.key) }, rows: rows)
    }

    /// Returns all keys of the records. Their domain and key precede them.
    private func whole(_ found: [Query.Record], _ records: QueryRecords) -> QueryRows {
        if records.areDomains {
            return .table(columns: ["@domain"], rows: found.map { [$0.domain.map { .string($0) }] })
        }
        var columns: [String] = []
        var positions: [Name: Int] = [:]
        func position(_ column: String) -> Int {
            if let known = positions[Name(column)] { return known }
            positions[Name(column)] = columns.count
            columns.append(column)
            return columns.count - 1
        }
        if records.haveDomains { _ = position("@domain") }
        let haveKeys = found.contains { $0.key != nil }
        if haveKeys { _ = position("@key") }
        let isPlain = !records.haveDomains && !haveKeys
        let cells: [[(Int, PropertyList)]] = found.map { record in
            var row: [(Int, PropertyList)] = []
            if records.haveDomains, let domain = record.domain { row.append((position("@domain"), .string(domain))) }
            if let key = record.key { row.append((position("@key"), .string(key))) }
            guard case .dictionary(let entries) = record.value else {
                let column = position("SELF")
                return record.value == .null ? row : row + [(column, record.value)]
            }
            return row + entries.map { (position(isPlain ? $0.key : $0.key.asColumn), $0.value) }
        }
        let rows = cells.map { cells in
            var row = [PropertyList?](repeating: nil, count: columns.count)
            for (position, value) in cells { row[position] = value }
            return row
        }
        return .table(columns: columns, rows: rows, records: isPlain ? found.map(\.value) : nil)
    }
}

extension QueryRows {
    fileprivate static func count(_ rows: [some Any]) -> QueryRows {
        .value(.integer(PropertyList.Integer(rows.count)))
    }
}

extension Query.Summary {
    /// The name of a column with this summary.
    fileprivate func name(of key: Query.Key) -> String {
        let name =
            switch self {
            case .sum: "sum"
            case .minimum: "min"
            case .maximum: "max"
            case .average: "avg"
            }
        return "@\(name).\(key.text)"
    }
}

extension String {
    /// The name of the column of a stored key. Unlike the column of a record's own key or domain, it has two at signs.
    fileprivate var asColumn: String {
        guard utf8.first == UInt8(ascii: "@") else { return self }
        let name = drop { $0 == "@" }
        return name == "key" || name == "domain" ? "@" + self : self
    }
}

extension PropertyList {
    /// The value with a real that is a whole number as an integer, so that 1 and 1.0 are one group.
    fileprivate var unified: PropertyList {
        guard case .real(let number) = self, let whole = Int64(exactly: number) else { return self }
        return .integer(Integer(whole))
    }
}

extension StoreAccess {
    /// Returns a query that the schema of a domain declares.
    func declaredQuery(_ name: String, of word: String) throws -> QueryDeclaration {
        let domain = try domain(word)
        let schema = try requiredSchema(of: domain)
        guard let query = schema.queries.first(where: { $0.name.hasSameBytes(as: name) }) else {
            let known = schema.queries.map(\.name)
            throw CommandFailure(
                .notFound,
                "\(word.onOneLine): unknown query @\(name.onOneLine)\(Suggestion.advice(name, among: known))")
        }
        return query
    }
}
