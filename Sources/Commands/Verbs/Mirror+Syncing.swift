internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror

// Exchanging changes, once or continuously.
extension MirrorVerbs {
    static let sync = Verb(
        "sync", .new, "exchange changes once",
        details: [
            "Running it again changes nothing and writes nothing. A line is printed for each key that changed here, and for each new conflict. Open conflicts are a failure only with --check."
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
            try session.sync(pushes ? .push : pulls ? .pull : .both) { access.wait($0) }
            return try access.conclude(&session, reportsConflicts: checks)
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
        try report(turn, service.session, invocation, access)
        return turn.next
    }

    private static func report(
        _ turn: MirrorService.Turn, _ session: MirrorSession, _ invocation: Invocation, _ access: MirrorAccess
    ) throws {
        if invocation.format == .json {
            for line in turn.reports.compactMap({ MirrorLine.json($0, in: session) }) {
                try access.context.say(line)
            }
        } else {
            for line in MirrorLine.lines(of: turn.reports, in: session) { try access.say(line) }
        }
        for trouble in turn.troubles { access.note(trouble) }
        if let failure = turn.failure, failure.problem != .notJoined { access.note(failure.description) }
    }

    static let service = Verb(
        "service", .new, "install a systemd unit that runs watch",
        details: ["It is a user unit. Without systemd, use the printed line for cron."],
        forms: [[Operand("install", .choice(.words(["install"])))]], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let folder = try context.environment.folder(.configuration, in: context.fileSystem)
            .resolving("systemd/user")
        let unit = MirrorUnit(context.environment.executable?.description ?? Prefs.name, access.namedStore)
        let path = folder.resolving(FilePath(unit.name + ".service") ?? ".")
        try context.fileSystem.makeFolders(folder)
        try context.fileSystem.replace(path, with: Array(unit.text.utf8))
        try context.say("wrote \(path.description.onOneLine)")
        try context.say(
            "start it, now and at each login:  systemctl --user enable --now \(ShellWord.quoted(unit.name))")
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
