internal import Platform
internal import Preferences
internal import PropertyLists
internal import Queries

extension Verb {
    package static let query = Verb(
        "query", .new, "print the records of a domain or file that satisfy a predicate",
        details: [
            "SOURCE is a domain, a pattern with * ? [a-z] for names of domains, a file, or - for the standard input. With ENTRYPATH the records are the elements of the array there, or the entries of the dictionary; * in the path stands for every element or entry. Without it a domain is one record, and those of a file are its elements or entries.",
            "PREDICATE is in the language of NSPredicate; TRUEPREDICATE selects all. @NAME runs a request that the domain's schema declares. prefs-query(1) describes the language and the options.",
        ],
        options: [
            .order, .select, .distinct, .group, .limit, .offset, .count, .sum, .minimum, .maximum, .average,
            .strictTypes,
            .bind, .steps, .queryFormat, .from,
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
        try context.terminal.write(QueryOutput(invocation, context).bytes(of: rows), to: .output)
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
