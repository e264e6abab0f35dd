extension Verb {
    package static let args = Verb(
        "args", .new, "read a script's arguments by its schema, for eval",
        options: [
            Option(
                "--shell", Option.Argument("SHELL", .choice(["bash", "zsh", "fish", "sh", "json", "nul"])),
                "what to print"),
            Option("--schema", Option.Argument("FILE", .file), "the schema, instead of the one that the script names"),
            Option("--prefix", Option.Argument("WORD", .word), "what the names of variables begin with"),
            Option(
                "--completions", Option.Argument("SHELL", .choice(["bash", "zsh", "fish"])),
                "print the completion script"),
            Option("--man", "print the manual page"),
        ],
        forms: [[Operand("SCRIPT", .file), Operand("ARGUMENT", .word, .zeroOrMore)]],
        statuses: [.notFound, .damaged, .systemFailed])
}
