extension Verb {
    package static let write = Verb(
        "write", .classic, "set a value, or replace a whole domain",
        details: [
            "A value without a type is a string, unless one of the characters \" ( ) [ ] { } < > in it makes it the text of a property list. With a schema it is of the type that the schema declares.",
            "DICTIONARY, the text of a property list, replaces all that the domain holds.",
        ],
        table: Table(
            title: "Types",
            rows: TypeFlag.allCases.map { ("\($0.rawValue) \($0.argument.name)", $0.argument.meaning) }),
        options: [.layer, .force, .ifCurrent, .ifAbsent],
        forms: [[.domain, Operand("DICTIONARY", .word)], [.domain, .key, Operand("VALUE", .value, .oneOrMore)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different])
}

extension Option {
    package static let ifCurrent = Option(
        "--if-current", Argument("JSON", .word), "write only if this is the value now, in lossless JSON")
    package static let ifAbsent = Option("--if-absent", "write only if there is no value now")
}
