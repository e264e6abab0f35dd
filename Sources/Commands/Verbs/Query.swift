internal import Platform
internal import Preferences
internal import PropertyLists
internal import Queries
internal import SettingsSchema

extension Verb {
    package static let query = Verb(
        "query", .new, "print the records of a domain or file that satisfy a predicate",
        details: [
            "SOURCE is a domain, a pattern with * ? [a-z] for names of domains, a file, or - for the standard input. A word without a slash is a domain if one of that name exists, otherwise a file; --domain NAME in its place is always a domain. With ENTRYPATH the records are the elements of the array there, or the entries of the dictionary; * in the path stands for every element or entry. Without it a domain is one record, and those of a file are its elements or entries.",
            "PREDICATE is in the language of NSPredicate; TRUEPREDICATE selects all. @NAME runs a query that the domain's schema declares. SELF is the record itself, and @domain the domain or file that it comes from: --select @domain,KEY prints both. prefs-query(1) describes the language and the options.",
        ],
        options: [
            .order, .select, .distinct, .group, .limit, .offset, .count, .sum, .minimum, .maximum, .average,
            .strictTypes,
            .bind, .steps, .queryFormat, .from, .asDomain, .effective, .layer,
        ],
        forms: [
            [Operand("SOURCE", .domainOrFile), Operand("PREDICATE", .query)],
            [Operand("SOURCE", .domainOrFile), Operand("ENTRYPATH", .word), Operand("PREDICATE", .word)],
            [Operand("SOURCE", .domainOrFile), Operand("@NAME", .word), Operand("VAR=VALUE", .word, .zeroOrMore)],
        ],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let request = try QueryRequest(invocation, access)
        var source = QuerySource(access, invocation, request)
        let rows = try request.rows(of: source.records())
        try QueryOutput(invocation, context).print(rows, context)
        return source.status
    }
}

extension Option {
    fileprivate static func key(_ name: String, _ summary: String) -> Option {
        Option(name, Argument("KEY", .word), summary)
    }

    static let order = Option(
        "--sort", Argument("KEYS", .word), "sort by these keys; -KEY reverses the order")
    static let select = Option("--select", Argument("KEYS", .word), "print these keys only")
    static let distinct = key("--distinct", "print each value of KEY once")
    static let group = key("--group", "print the number of records for each value of KEY")
    static let limit = Option("--limit", Argument("N", .number), "print at most N records")
    static let offset = Option("--offset", Argument("N", .number), "skip N records")
    static let count = Option("--count", "print the number of records")
    static let sum = key("--sum", "print the sum of KEY")
    static let minimum = key("--min", "print the least value of KEY")
    static let maximum = key("--max", "print the greatest value of KEY")
    static let average = key("--average", "print the average of KEY")
    static let strictTypes = Option("--strict", "fail if a comparison has values of different types")
    static let bind = Option("--bind", Argument("VAR=VALUE", .word), "set a variable of the predicate", repeats: true)
    static let steps = Option("--steps", Argument("N", .number), "fail after N steps instead of 10,000,000")
    static let queryFormat = Option(
        "--format", Argument("FORMAT", .choice(.words(["table", "json", "tsv", "lines", "nul"]))), "how to print it")
}

extension Query.Predicate.Failure: Reportable {
    package var status: ExitStatus { .invalidValue }
    package var lines: [String] { [description.onOneLine] }
}

/// The text of the result of a query.
struct QueryOutput {
    private enum Format: String {
        case table, json, tsv, lines, nul
    }

    private let format: Format

    init(_ invocation: Invocation, _ context: CommandContext) {
        format =
            invocation[.queryFormat].flatMap { Format(rawValue: $0) }
            ?? (context.terminal.isTerminal(.output) ? .table : .json)
    }

    func print(_ rows: QueryRows, _ context: CommandContext) throws {
        let bytes = try bytes(of: rows)
        if format == .json { try context.print(json: bytes) } else { try context.terminal.write(bytes, to: .output) }
    }

    private func bytes(of rows: QueryRows) throws -> [UInt8] {
        switch rows {
        case .value(let value): try bytes(of: value)
        case .table(_, _, let records?) where format == .json: try json(.array(records))
        case .table(let columns, let rows, _): try bytes(columns, rows)
        }
    }

    private func bytes(of value: PropertyList?) throws -> [UInt8] {
        if format == .json { return try value.map(json) ?? Array("null\n".utf8) }
        return Array((text(value) + (format == .nul ? "\0" : "\n")).utf8)
    }

    private func bytes(_ columns: [String], _ rows: [[PropertyList?]]) throws -> [UInt8] {
        switch format {
        case .json:
            return try json(.array(rows.map { row in .dictionary(entries(columns, row)) }))
        case .table: return Array(table(columns, rows).utf8)
        case .tsv:
            return Array(
                ([columns.map(LineText.escaped).joined(separator: "\t")] + lines(rows)).map { $0 + "\n" }.joined().utf8)
        case .lines: return Array(lines(rows).map { $0 + "\n" }.joined().utf8)
        case .nul:
            var text = ""
            for cell in rows.joined() {
                let word = self.text(cell)
                guard !word.utf8.contains(0) else {
                    throw CommandFailure(.invalidValue, "a value contains a NUL, which the format nul cannot express")
                }
                text += word + "\0"
            }
            return Array(text.utf8)
        }
    }

    private func entries(_ columns: [String], _ row: [PropertyList?]) -> PropertyList.Dictionary {
        PropertyList.Dictionary(zip(columns, row).compactMap { column, value in value.map { (column, $0) } })
    }

    private func json(_ value: PropertyList) throws -> [UInt8] {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.coerces = true
        options.keepsKeyOrder = true
        return try Rendering(.json, options: options).bytes(of: value)
    }

    /// Returns the text of a value, and no text for NULL.
    private func text(_ value: PropertyList?) -> String { value.map(LineText.text) ?? "" }

    /// Returns a line for each row, with tabs between the values.
    private func lines(_ rows: [[PropertyList?]]) -> [String] {
        rows.map { row in row.map { LineText.escaped(text($0)) }.joined(separator: "\t") }
    }

    /// Returns aligned columns under their names, with numbers to the right.
    private func table(_ columns: [String], _ rows: [[PropertyList?]]) -> String {
        let cells = rows.map { row in row.map { shortened(text($0), to: 60) } }
        let names = columns.map { shortened($0, to: 60) }
        let isNumber = columns.indices.map { at in
            rows.allSatisfy { row in row[at].map { $0.kind == .integer || $0.kind == .real } ?? true }
        }
        let widths = columns.indices.map { at in
            cells.reduce(names[at].columns) { width, row in max(width, row[at].columns) }
        }
        return ([names] + cells).map { row in
            var line = ""
            for at in columns.indices {
                let gap = String(repeating: " ", count: widths[at] - row[at].columns)
                if at > 0 { line += "  " }
                line += isNumber[at] ? gap + row[at] : at == columns.count - 1 ? row[at] : row[at] + gap
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
