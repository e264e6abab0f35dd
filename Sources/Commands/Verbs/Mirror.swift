internal import PreferencesMirror

extension Verb {
    package static let mirror = Verb(
        "mirror", .new, "keep domains the same on several hosts, through a shared directory",
        parts: (MirrorVerbs.joining + MirrorVerbs.syncing + MirrorVerbs.deciding + MirrorVerbs.checking).map { part in
            part.mappingErrors { error, invocation in
                guard let failure = error as? MirrorFailure else { return error }
                return CommandFailure(
                    failure.status, MirrorAccess.spelled(failure.lines.joined(), for: invocation[.store]))
            }
        })
}

enum MirrorVerbs {
    static let outcomes: [ExitStatus] = [
        .notFound, .damaged, .systemFailed, .lockTimeout, .conflicts, .waiting, .halted, .overQuota, .unavailable,
    ]

    static let directory = Operand("DIR", .folder)
    static let globs = Operand("GLOB", .domain, .oneOrMore)
    static let host = Operand("HOST", .word)

    static let joining = [
        initialise, join, add, remove, list,
    ]

    static let syncing = [sync, watch, service, status, log]

    static let deciding = [conflicts, release, pause, resume, leave, detach, retire, purge]

    static let checking = [fsck, rebuild, compact, dump]
}
