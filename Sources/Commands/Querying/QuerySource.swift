internal import Platform
internal import Preferences
internal import PropertyLists
internal import Queries

/// The records that satisfy a query.
struct QueryRecords {
    /// The records in order.
    let all: [Query.Record]
    /// Whether the records are whole domains.
    let areDomains: Bool
    /// Whether records can come from several domains.
    let haveDomains: Bool
}

/// Reads the records of domains or of a file.
struct QuerySource {
    private let access: StoreAccess
    private let invocation: Invocation
    private let request: QueryRequest
    /// The exit status. A domain that cannot be read does not stop a query of several.
    private(set) var status = ExitStatus.done
    /// Whether values may have been left out of the records because they are sensitive.
    private var hidesValues = false

    init(_ access: StoreAccess, _ invocation: Invocation, _ request: QueryRequest) {
        (self.access, self.invocation, self.request) = (access, invocation, request)
    }

    /// Returns the records that satisfy the query.
    mutating func records() throws -> QueryRecords {
        var query = request.query
        // The offset and the limit are those of the rows that are printed.
        (query.offset, query.limit) = (0, nil)
        let fields = (query.fields ?? []).union(request.fields ?? [])
        var selection = Selection(query, fields: fields)
        defer { note(selection) }
        let (word, isForced) = (request.source, invocation.has(.asDomain))
        if !isForced, DomainArgument.isPath(word),
            let files = try access.context.files(matching: word, isWriting: false)
        {
            status = files.status
            try readFiles(files.words, &selection)
            return QueryRecords(all: selection.records, areDomains: false, haveDomains: true)
        }
        let isFile = !isForced && (word == "-" || DomainArgument.isPath(word))
        let isPattern = !isForced && !isFile && DomainArgument.isPattern(word)
        let domain =
            try isFile || isPattern
            ? nil : access.domainRatherThanFile(word, isForced: isForced) { try access.exists($0) }
        guard isPattern || domain != nil else {
            try readFile(access.context.file(named: word), &selection)
            return QueryRecords(all: selection.records, areDomains: false, haveDomains: false)
        }
        guard invocation[.from] == nil else { throw CommandFailure.formatOfDomain(word) }
        if let domain {
            guard try read(domain, &selection) else { throw try access.failure(ofMissing: nil, in: domain) }
        } else {
            try readDomains(Glob(word), &selection)
        }
        return QueryRecords(
            all: selection.records, areDomains: !request.hasPath, haveDomains: isPattern && request.hasPath)
    }

    /// Reports why records may be missing in the result: a key that none has, or values that cannot be compared.
    private func note(_ selection: Selection) {
        guard !selection.isEmpty else { return }
        for name in selection.missing.sorted() {
            let known = selection.known.map(\.text).sorted()
            let dotted = known.first { $0.hasPrefix(name.text + ".") }.map {
                EntryPath([.init($0)]).description.onOneLine
            }
            let hint = dotted.map { "; a key with a dot: \($0)" } ?? Suggestion.hint(name.text, among: known)
            let doubt = hint.isEmpty && hidesValues ? "; sensitive values are not queried" : ""
            access.context.note("no record has \(name.text.onOneLine)\(hint)\(doubt)")
        }
        guard let (count, first) = selection.mismatches else { return }
        let (left, right) = (first.left.rawValue, first.right.rawValue)
        let reason =
            if let key = first.key {
                "\(key.onOneLine) is of type \(left) there, which \(first.operator) does not compare with \(right)"
            } else {
                "\(first.operator) does not combine \(left) and \(right)"
            }
        access.context.note("\(counted(count, "record")) left out: \(reason)")
    }

    private mutating func readDomains(_ pattern: Glob, _ selection: inout Selection) throws {
        for name in try access.namesInAllLayers() where pattern.matches(name.text) {
            let failed = try access.reportingUnreadable { _ = try read(access.domain(name), &selection) }
            status = failed ?? status
        }
    }

    /// Adds the records of the values to show; returns false if the domain does not exist.
    private mutating func read(_ domain: AddressedDomain, _ selection: inout Selection) throws -> Bool {
        guard let values = try access.shownValues(domain) else { return false }
        let masking = access.masking(domain)
        hidesValues = hidesValues || !masking.isEmpty
        let shown = masking.revealed(.dictionary(values), at: []) ?? [:]
        if request.hasPath {
            try shown.forEachRecord(at: request.query.over, domain: domain.word) { record in
                try selection.add(record)
            }
        } else {
            try selection.add(Query.Record(shown, domain: domain.word))
        }
        return true
    }

    /// Adds the records of the files that a pattern matches. A file that cannot be read is reported and skipped.
    private mutating func readFiles(_ words: [String], _ selection: inout Selection) throws {
        for word in words {
            let failed = try access.reportingUnreadable { try readFile(word, &selection, isOfPattern: true) }
            status = failed ?? status
        }
    }

    /// - Parameter isOfPattern: Whether the file is one of several, so that its name is that of the records' domain.
    private mutating func readFile(
        _ word: String, _ selection: inout Selection, isOfPattern: Bool = false
    ) throws {
        let name = word == "-" ? "standard input" : word.onOneLine
        let bytes = try access.context.contents(word, limit: PropertyList.Limits.default.inputBytes)
        // A file of the store itself is subject to its schema.
        let masking = word == "-" ? .none : try access.masking(access.domain(word))
        hidesValues = hidesValues || !masking.isEmpty
        do {
            if try !isOfPattern && readLazily(bytes, masking, &selection) { return }
            let value = masking.revealed(try value(bytes, word), at: []) ?? [:]
            try value.forEachRecord(at: request.query.over, domain: isOfPattern ? name : nil) { record in
                try selection.add(record)
            }
        } catch let failure as DecodingFailure {
            throw InvalidInput(name: name, bytes: bytes, failure: failure)
        }
    }

    private func value(_ bytes: [UInt8], _ word: String) throws(DecodingFailure) -> PropertyList {
        let format = invocation[.from].flatMap { FormatName(word: $0) }
        func parsed(
            _ integers: PropertyList.ReadingOptions.InexactIntegers
        ) throws(DecodingFailure) -> PropertyList {
            var options = format == .json5 ? PropertyList.ReadingOptions(allowsJSON5: true) : .ofFiles
            options.inexactIntegers = integers
            if let format = format?.ofPropertyList {
                return try PropertyList(parsing: bytes, as: format, options: options).asQueried
            }
            return try PropertyList.sniffed(bytes, named: word == "-" ? nil : word, options: options).0.asQueried
        }
        do throws(DecodingFailure) {
            return try parsed(.refused)
        } catch {
            guard case .integerOutOfRange = error.problem, error.format == .json else { throw error }
        }
        // An integer that a real would round is printed as it is, but not compared.
        let options = PropertyList.ReadingOptions(allowsJSON5: true)
        if let failure = PropertyList.integerOutOfRange(inJSON: bytes, options, where: request.compares) {
            throw failure
        }
        return try parsed(.text)
    }

    /// Reads only the keys that the request names from a binary file. Returns false if that is not possible.
    private func readLazily(
        _ bytes: [UInt8], _ masking: Masking, _ selection: inout Selection
    ) throws -> Bool {
        let path = request.query.over
        guard PropertyList.isBinary(bytes), invocation[.from].map({ FormatName(word: $0) == .binary }) ?? true,
            masking.isEmpty, !path.components.contains(.every), let tested = request.query.predicate.fields
        else { return false }
        // Of a record that satisfies the predicate, the rest is read if the result needs it.
        let fields = request.fields.flatMap { fields in request.query.fields.map(fields.union) }
        let isEnough = fields != nil
        func record(_ component: EntryPath.Component, _ isEntry: Bool, _ value: PropertyList) -> Query.Record {
            isEntry
                ? Query.Record(value.asQueried, under: component.text, of: path)
                : Query.Record(value.asQueried, at: component.index ?? 0, of: path)
        }
        return try PropertyList.forEachBinaryRecord(
            in: bytes, at: path, fields: fields ?? tested,
            test: { component, isEntry, value in
                if isEntry, value == .null { return false }
                let part = record(component, isEntry, value)
                guard try selection.matches(part) else { return false }
                if isEnough { selection.append(part) }
                return !isEnough
            },
            take: { component, isEntry, value in selection.append(record(component, isEntry, value)) })
    }
}

extension PropertyList {
    /// The value in which a key with a null is missing. A null in an array is an element.
    var asQueried: PropertyList { hasNulls ? withoutNullEntries : self }
}
