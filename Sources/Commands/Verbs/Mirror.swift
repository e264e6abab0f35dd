extension Verb {
    package static let mirror = Verb(
        "mirror", .new, "keep domains the same on several hosts, through a shared directory",
        parts: joining + syncing + deciding + mending)

    private static let outcomes: [ExitStatus] = [
        .systemFailed, .conflicts, .waiting, .halted, .overQuota, .unavailable,
    ]

    private static let joining: [Verb] = [
        Verb("init", .new, "create a mirror in a directory and join it", forms: [[directory]], statuses: outcomes),
        Verb(
            "join", .new, "take part in a mirror",
            options: [
                Option("--id", Option.Argument("ID", .word), "which of two mirrors in the directory"),
                Option("--seed", Option.Argument("SIDE", .choice(["merge", "remote", "local"])), "whose values count"),
                Option("--label", Option.Argument("NAME", .word), "what this host is called"),
            ],
            forms: [[directory]], statuses: outcomes),
        Verb("add", .new, "let domains take part", forms: [[globs]], statuses: outcomes),
        Verb("remove", .new, "let domains take part no more", forms: [[globs]], statuses: outcomes),
        Verb("list", .new, "print which domains take part", statuses: outcomes),
    ]

    private static let syncing: [Verb] = [
        Verb(
            "sync", .new, "exchange what changed, once",
            options: [Option("--push", "only send"), Option("--pull", "only fetch"), .dryRun], statuses: outcomes),
        Verb(
            "watch", .new, "exchange what changes, until interrupted",
            options: [.format([.text, .json]), Option("--eager", "look at the directory every two seconds")],
            statuses: outcomes),
        Verb(
            "service", .new, "write the unit that lets systemd watch",
            forms: [[Operand("install", .choice(["install"]))]], statuses: outcomes),
        Verb(
            "status", .new, "print how things stand, and what to type", options: [.format([.text, .json])],
            statuses: outcomes),
        Verb(
            "log", .new, "print what changed, when, and on which host",
            options: [Option("--since", Option.Argument("REV", .word), "from there on")], statuses: outcomes),
    ]

    private static let deciding: [Verb] = [
        Verb(
            "conflicts", .new, "list conflicts, or show, accept or restore one",
            forms: [[], [Operand("show|accept|restore", .choice(["show", "accept", "restore"])), number]],
            statuses: outcomes),
        Verb(
            "release", .new, "decide about a domain that is held",
            options: [
                Option("--take-file", "what stands in the file counts"),
                Option("--take-mirror", "what the mirror has counts"),
            ],
            forms: [[.domain]], statuses: outcomes),
        Verb("pause", .new, "exchange nothing for now", statuses: outcomes),
        Verb("resume", .new, "exchange again", statuses: outcomes),
        Verb("leave", .new, "take part no more, and say so", statuses: outcomes),
        Verb("detach", .new, "forget the mirror without a word to it", statuses: outcomes),
        Verb("retire", .new, "show a host no more that will not come back", forms: [[host]], statuses: outcomes),
        Verb("purge", .new, "remove the folder of a host, keeping what it said", forms: [[host]], statuses: outcomes),
    ]

    private static let mending: [Verb] = [
        Verb("fsck", .new, "check every file of the mirror", statuses: [.damaged] + outcomes),
        Verb("rebuild", .new, "make the local state anew from the files", statuses: [.damaged] + outcomes),
        Verb("dump", .new, "print a file of the mirror as text", forms: [[.file]], statuses: [.damaged] + outcomes),
    ]

    private static let directory = Operand("DIR", .folder)
    private static let globs = Operand("GLOB", .domain, .oneOrMore)
    private static let host = Operand("HOST", .word)
    private static let number = Operand("N", .word)
}
