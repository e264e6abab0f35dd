internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

extension Verb {
    package static let mirror = Verb(
        "mirror", .new, "keep domains the same on several hosts, through a shared directory",
        parts: (MirrorVerbs.joining + MirrorVerbs.syncing + MirrorVerbs.deciding + MirrorVerbs.checking).map { part in
            part.mappingErrors { error, invocation in
                guard let failure = error as? MirrorFailure else { return error }
                return CommandFailure(
                    failure.status, MirrorAccess.spelled(failure.lines.joined(), for: invocation[.store]))
            }
        }, scope: .allHosts)
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

    static let deciding = [conflicts, release, pause, resume, leave, detach, retire, purge, admit, expel]

    static let checking = [fsck, rebuild, compact, dump]
}

// Showing the state of a mirror.
extension MirrorVerbs {
    static let status = Verb(
        "status", .new, "print the status, and the commands to run",
        details: ["Nothing is exchanged. A line that requires action ends with the command for it."],
        options: [.format([.text, .json]), .mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        return try access.each { session in
            let status = try session.status()
            if invocation.format == .json {
                try context.say(LosslessJSON.text(of: status.propertyList) ?? "")
            } else {
                var rows = status.rows(at: context.clock.wall)
                rows += status.troubles.map { ("cause", $0.onOneLine) }
                try access.say(MirrorStatusText.text(status, at: session.place, rows))
            }
            return ExitStatus(status.condition)
        }
    }

    static let log = Verb(
        "log", .new, "print what changed, when, and on which host",
        details: [
            "A line has the time, the revision, the host and the entry: the last change of each entry that there is, or was, and changes that are open conflicts. With --since REV, only changes after that revision are printed."
        ],
        options: [.since, .mirror], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let first = try invocation[.since].map { word in
            guard let number = UInt64(word, radix: 16) else {
                throw CommandFailure(.invalidValue, "\(ShellWord.quoted(word.onOneLine)) is not a revision")
            }
            return Stamp(number: number)
        }
        return try access.each { session in
            _ = try session.status()
            for atom in session.mergeState.atoms.sorted(by: { $1.isAfter($0) }) where atom.reason != .older {
                if let first, atom.stamp <= first { continue }
                try context.say(line(of: atom, session))
            }
            return .done
        }
    }

    private static func line(of write: Atom, _ session: MirrorSession) -> String {
        let time = Timestamp(seconds: Int64(write.stamp.milliseconds / 1000), nanoseconds: 0)
        let when = write.stamp.isFound ? "before joining" : time.description
        let revision = String(write.stamp.number, radix: 16)
        let what = write.value.value == nil ? " deleted" : ""
        return [
            when, revision, session.host(of: write), write.path.domain, write.path.entry.description,
        ]
        .map(\.onOneLine).joined(separator: "  ") + what
    }

    /// Returns a file of a mirror, with the long values stored in separate files.
    private static func pack(_ bytes: [UInt8], at name: String, _ context: CommandContext) throws -> Pack {
        do throws(PackFault) {
            return try Pack(decoding: bytes)
        } catch {
            guard case .missingBlobs(let references) = error else { throw error }
            let folder = (name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ".") + "/.."
            var blobs: [BlobName: Blob] = [:]
            for reference in references {
                let bytes = try context.contents("\(folder)/\(reference.name)", limit: reference.size)
                blobs[reference.name] = try Blob(decoding: bytes, as: reference)
            }
            return try Pack(decoding: bytes, blobs: blobs)
        }
    }

    static let dump = Verb(
        "dump", .new, "print a file of the mirror as text", forms: [[.file]],
        statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, context in
        let name = invocation[operand: "FILE"] ?? ""
        let bytes = try context.contents(name, limit: 256 << 20)
        do {
            let end = SignedEnd(of: bytes)
            let pack = try pack(bytes.dropLast(end?.size ?? 0), at: name, context)
            let signature = end.map { ["signed with \($0.signature.key.fingerprint), which is not checked"] } ?? []
            for line in pack.lines + signature { try context.say(line.shown) }
        } catch let fault as PackFault {
            guard let marker = try? Marker(decoding: bytes) else {
                throw CommandFailure(.damaged, "\(name.onOneLine): \(fault.phrase)")
            }
            try context.say("marker of the mirror \(marker.mirror)")
        }
        return .done
    }
}

extension Option {
    fileprivate static let since = Option("--since", Argument("REV", .word), "only changes after this revision")
}

// Checking and repairing the files.
extension MirrorVerbs {
    static let fsck = Verb(
        "fsck", .new, "check every file of the mirror",
        details: [
            "Each file is read whole, and nothing is changed. Each line states a problem and how to fix it: a file is not fetched yet, missing, damaged, a conflict copy of a program that syncs files, or foreign."
        ],
        options: [.mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        return try access.each { session in
            var halted = ExitStatus.done
            // The files of each mirror are checked without those of the others.
            if let obstacle = session.obstacle, case .severalMirrors = obstacle {
                access.note("\(session.place): \(MirrorLine.text(of: obstacle, session.id, session.directory.path))")
                halted = .halted
            } else {
                try access.check(session)
            }
            let findings = try context.progress.during("checking \(session.place)") {
                try session.examine { context.progress.show($0, of: $1, "files checked") }
            }
            for finding in findings { try access.say(FolderFindingText.line(finding, session)) }
            if findings.isEmpty { try context.say("\(session.place): no problems found") }
            return max(halted, findings.isEmpty ? .done : findings.allSatisfy(\.isOfWaiting) ? .waiting : .damaged)
        }
    }

    static let rebuild = Verb(
        "rebuild", .new, "rebuild the local state from the files",
        details: [
            "Unpublished changes of this host are kept, and so are the values of hosts whose files are missing."
        ],
        options: [.mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        try access.check(session)
        try context.progress.during("rebuilding the state of \(session.place)") {
            try session.rebuild {
                context.progress.show($0, of: $1, "files read")
            } wait: {
                access.wait($0)
            }
        }
        return try access.conclude(&session)
    }

    static let compact = Verb(
        "compact", .new, "remove deleted values from the published files now",
        details: [
            "Without this, a deleted value stays in this host's files for up to a day. Other hosts, their histories and backups can still hold what they have read."
        ],
        options: [.mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        return try access.each { session in
            try session.carryOut(.compact) { access.wait($0) }
            return try concludeCompaction(&session, access)
        }
    }

    static func concludeCompaction(_ session: inout MirrorSession, _ access: MirrorAccess) throws -> ExitStatus {
        let place = session.directory.path.description.onOneLine
        let status = try access.conclude(&session)
        guard !session.publishesFormerValues else {
            access.note("\(place): earlier values could not be removed")
            return max(.waiting, status)
        }
        try access.say("\(place): only current values of this host are left; others may have read earlier ones")
        return status
    }
}

// Exchanging changes, once or continuously.
extension MirrorVerbs {
    static let sync = Verb(
        "sync", .new, "exchange changes once",
        details: [
            "Running it again changes nothing and writes nothing. A line is printed for each of the first 20 keys that changed here, and for each of the first 20 new conflicts. Open conflicts are a failure only with --check."
        ],
        options: [.push, .pull, .check, .dryRun, .mirror],
        statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let (pushes, pulls) = (invocation.has(.push), invocation.has(.pull))
        guard !(pushes && pulls) else { throw CommandFailure(.usage, "--push and --pull are mutually exclusive") }
        return try access.each { session in
            if invocation.has(.dryRun) {
                let status = try session.status()
                if status.directoryStatus == .present { try say(status, at: session.place, context) }
                guard status.condition > .waiting else { return .done }
                if let advice = MirrorLine.advice(status.condition, session) { access.note(advice) }
                return ExitStatus(status.condition)
            }
            let checks = invocation.has(.check)
            if !checks, session.isAtRest { return .done }
            let direction: MirrorSession.Direction = pushes ? .push : pulls ? .pull : .both
            try access.sync(&session, direction)
            return try access.conclude(&session, reportsConflicts: checks, announcing: direction)
        }
    }

    /// Prints what an exchange would do.
    private static func say(_ status: MirrorStatus, at place: String, _ context: CommandContext) throws {
        let (changes, files) = (counted(status.pending, "change"), counted(status.unread, "file"))
        try context.say("\(place): \(changes) to send, \(files) to fetch")
    }

    static let watch = Verb(
        "watch", .new, "exchange changes as they happen, until interrupted",
        details: [
            "Each change that comes from another host is a line. `prefs mirror service install` lets systemd run it."
        ],
        options: [
            .format([.text, .json]), .eager, .mirror,
        ], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let bell = ResettableEvent()
        var services = try access.all().map { session in
            MirrorService(session, isEager: invocation.has(.eager)) { bell.ring() }
        }
        for index in services.indices where try !services[index].claim() {
            throw CommandFailure(.lockTimeout, "\(services[index].session.place): another program watches it already")
        }
        var isInterrupted = false
        while !isInterrupted, services.contains(where: { !$0.isOver }) {
            bell.reset()
            var next = Instant.never
            for index in services.indices where !services[index].isOver {
                next = min(next, try turn(&services[index], invocation, access))
            }
            let wakeup = context.clock.wake(at: next) { bell.ring() }
            isInterrupted = !context.wait(bell.next)
            wakeup.cancel()
        }
        for index in services.indices where !services[index].isOver {
            try report(services[index].finish(), services[index].session, invocation, access)
        }
        return .done
    }

    private static func turn(
        _ service: inout MirrorService, _ invocation: Invocation, _ access: MirrorAccess
    ) throws -> Instant {
        let turn = service.turn()
        guard try report(turn, service.session, invocation, access) else { return turn.next }
        service.hasten()
        return access.context.clock.now
    }

    /// Prints what a turn has reported. Returns whether new conflicts were resolved, so that an exchange is due.
    @discardableResult
    private static func report(
        _ turn: MirrorService.Turn, _ session: MirrorSession, _ invocation: Invocation, _ access: MirrorAccess
    ) throws -> Bool {
        if invocation.format == .json {
            for line in turn.reports.compactMap({ MirrorLine.json($0, in: session) }) {
                try access.context.say(line)
            }
        } else {
            for line in MirrorLine.lines(of: turn.reports, in: session) { try access.say(line) }
        }
        for trouble in turn.troubles { access.note(trouble) }
        if let failure = turn.failure, failure.problem != .notJoined { access.note(failure.description) }
        return access.announce(MirrorLine.conflicts(in: turn.reports, session))
    }

    static let service = Verb(
        "service", .new, "install or uninstall a systemd unit that runs watch",
        details: ["It is a user unit. Without systemd, use the printed line for cron."],
        forms: [[Operand("ACTION", .choice(.words(["install", "uninstall"])))]], statuses: [.notFound] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let folder = try context.environment.folder(.configuration, in: context.fileSystem)
            .resolving("systemd/user")
        let unit = MirrorUnit(context.environment.executable?.word ?? Prefs.name, access.namedStore)
        let path = folder.resolving(FilePath(unit.name + ".service") ?? ".")
        let name = ShellWord.quoted(unit.name)
        if invocation[operand: "ACTION"] == "uninstall" {
            // systemd makes the link when the unit is enabled.
            let link = folder.resolving(FilePath("default.target.wants/\(unit.name).service") ?? ".")
            let found = try [path, link].filter {
                try context.fileSystem.status(of: $0, followingLink: false) != nil
            }
            guard !found.isEmpty else {
                throw CommandFailure(.notFound, "\(path.description.onOneLine): no such unit")
            }
            for path in found {
                try context.fileSystem.remove(path)
                try context.say("removed \(path.description.onOneLine)")
            }
            try context.say("stop it now:  systemctl --user stop \(name); systemctl --user daemon-reload")
            return .done
        }
        try context.fileSystem.makeFolders(folder)
        try context.fileSystem.replace(path, with: Array(unit.text.utf8))
        try context.say("wrote \(path.description.onOneLine)")
        try context.say(
            "start it, now and at each login:  systemctl --user enable --now \(name)")
        try context.say("keep it without a login:          loginctl enable-linger")
        try context.say("without systemd, in crontab -e:   * * * * * \(unit.cronCommand)")
        return .done
    }
}

extension Option {
    fileprivate static let push = Option("--push", "only send")
    fileprivate static let pull = Option("--pull", "only fetch")
    fileprivate static let check = Option("--check", "exit 9 while conflicts are open")
    fileprivate static let eager = Option("--eager", "look at the directory every two seconds")
}
