internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

// Decisions of the user.
extension MirrorVerbs {
    static let release = Verb(
        "release", .new, "resolve a held domain",
        details: [
            "A domain is held if its file is unexpectedly missing, empty, unreadable or replaced, or if the mirror has settings of a later version than the schema here. Its values on the other hosts are unchanged."
        ],
        options: [.takeFile, .takeMirror, .mirror], forms: [[.domain]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        guard invocation.has(.takeFile) != invocation.has(.takeMirror) else {
            throw CommandFailure(.usage, "specify either --take-file or --take-mirror")
        }
        var session = try access.one()
        let word = invocation[operand: "DOMAIN"] ?? ""
        let domain = try DomainName(word: word).text
        guard let held = try session.status().held.first(where: { $0.domain.hasSameBytes(as: domain) }) else {
            throw MirrorFailure(.unknown("\(domain.onOneLine) is not held"))
        }
        if held.reason == .unreadable, invocation.has(.takeFile) {
            throw MirrorFailure(.refused("\(domain.onOneLine): its file cannot be read; fix it, or use --take-mirror"))
        }
        if held.reason == .newerVersion, invocation.has(.takeMirror) {
            throw MirrorFailure(
                .refused("\(domain.onOneLine): \(held.reason.phrase); install that version, or use --take-file"))
        }
        if invocation.has(.takeFile) { try sayReplaced(in: domain, session, access) }
        try session.carryOut(.release(domain: domain, takesFile: invocation.has(.takeFile))) { access.wait($0) }
        return try access.conclude(&session)
    }

    /// Prints the values of a domain in the mirror, in force or open conflicts, that its file replaces on all hosts.
    private static func sayReplaced(in domain: String, _ session: MirrorSession, _ access: MirrorAccess) throws {
        let file = try access.stored.domain(DomainName(domain)).file
        let values = PropertyList.dictionary(try file.contents(on: access.stored.system).values)
        let text = MirrorValueText(masking: try access.masking(domain))
        for atom in session.mergeState.under(Path(domain: domain)) where atom.reason != .older {
            guard let value = atom.value.value, (try? value.decoded()) != values[atom.path.entry] else { continue }
            let host = session.host(of: atom).onOneLine
            try access.context.say("\(atom.path.place)  \(text.text(value, at: atom.path).shown) of \(host) replaced")
        }
    }

    static let pause = Verb(
        "pause", .new, "pause all exchanges", options: [.mirror], statuses: outcomes
    ) { invocation, context in try take(.pause, wanting: .paused, invocation, context) }

    static let resume = Verb(
        "resume", .new, "resume exchanges", options: [.mirror], statuses: outcomes
    ) { invocation, context in try take(.resume, wanting: .inSync, invocation, context) }

    private static func take(
        _ command: MirrorEngine.Command, wanting wanted: MirrorCondition, _ invocation: Invocation,
        _ context: CommandContext
    ) throws -> ExitStatus {
        let access = try MirrorAccess(invocation, context)
        return try access.each { session in
            try session.carryOut(command) { access.wait($0) }
            return try access.conclude(&session, wanting: wanted)
        }
    }

    static let leave = Verb(
        "leave", .new, "leave the mirror and notify the other hosts",
        details: [
            "The domains' files stay as they are, and what this host has written stays in force for the others. Open conflicts stay in the mirror. If the directory is not writable, this host leaves at the next exchange.",
            "Refused with status 9 while no other host has read the last changes of this host, or if it is the last admitted host of a signed mirror, unless --anyway is specified.",
        ],
        options: [.anyway, .mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        if !invocation.has(.anyway) {
            try access.sync(&session)
            guard !session.isLastAdmitted else {
                _ = try access.conclude(&session)
                throw CommandFailure(
                    .conflicts,
                    "\(session.place): no other host is admitted, so none could write to the mirror; admit one first "
                        + "(prefs mirror admit); --anyway leaves now")
            }
            guard session.isAcknowledged else {
                _ = try access.conclude(&session)
                throw CommandFailure(
                    .conflicts,
                    "\(session.place): no other host has read the last changes of this host yet; a host that only reads "
                        + "reports within a day what it has read; --anyway leaves now")
            }
        }
        try session.carryOut(.leave) { access.wait($0) }
        let open = session.openConflicts.count
        guard session.hasLeft else {
            let status = try access.conclude(&session)
            access.note(MirrorLine.leaving)
            return max(.waiting, status)
        }
        if open > 0 {
            let verb = open == 1 ? "stays" : "stay"
            try context.say("\(counted(open, "conflict")) \(verb) open in the mirror, for the other hosts")
        }
        try session.forget()
        return .done
    }

    static let detach = Verb(
        "detach", .new, "leave the mirror without notifying the other hosts",
        details: [
            "The domains' files stay as they are. Changes that were not published yet stay in them, too. Open conflicts are printed and kept in a file."
        ],
        options: [.mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        do {
            try session.read()
            let open = session.openConflicts.map { ListedConflict($0, session) }
            let names = ConflictNames(of: [session])
            var kept: [String] = []
            for conflict in open {
                let masking = try access.masking(conflict.place.domain)
                for line in conflict.lines(names, masking, withState: false) { try context.say(line) }
                kept.append(conflict.json(masking))
            }
            if !open.isEmpty {
                let file = try session.keep(kept)
                try context.say("kept \(counted(open.count, "open conflict")) in \(file.description.onOneLine)")
            }
            // Notifies a watching process, so that it creates no more files.
            try session.submit(.detach)
        } catch let failure as MirrorFailure where failure.isOfEarlierFormat {
            // Its state cannot be loaded.
        }
        try session.forget()
        return .done
    }

    static let retire = Verb(
        "retire", .new, "hide a host that will not return",
        details: ["If it publishes nothing for a day, this host takes over its values and removes its folder."],
        options: [.mirror], forms: [[host]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        try decide(invocation, context) { .retire($0) }
    }

    static let purge = Verb(
        "purge", .new, "remove the folder of a host, keeping its values",
        details: ["This host first takes over the values of the other one, so no value changes."],
        options: [.mirror], forms: [[host]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        try decide(invocation, context, removesFolder: true) { .purge($0) }
    }

    static let admit = Verb(
        "admit", .new, "let a host write to a signed mirror",
        details: [
            "The host has joined with --signed, and is named by the fingerprint of its key, which `prefs mirror status` prints there. Given its name, the command prints the fingerprint that the mirror claims, and admits nothing."
        ],
        options: [.mirror], forms: [[host]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        try access.sync(&session)
        _ = try signing(of: session)
        let word = invocation[operand: "HOST"] ?? ""
        if session.isExpelled(word) {
            throw MirrorFailure(.refused("\(word): this key was expelled; the host must join with a new one"))
        }
        if session.signers.contains(where: { $0.key.fingerprint == word }) {
            try context.say("\(word): already admitted")
            return try access.conclude(&session)
        }
        let requests = try session.requests(of: invocation[operand: "HOST"] ?? "")
        let signer = try signer(invocation, among: requests, "asks to join")
        try session.decide(on: signer, isAdmitted: true) { access.wait($0) }
        try context.say("admitted \(signer.label.onOneLine)")
        return try access.conclude(&session)
    }

    static let expel = Verb(
        "expel", .new, "ignore what a host writes to a signed mirror from now on",
        details: [
            "The host is named by the fingerprint of its key. Given its name, the command prints the fingerprint, and expels nothing. What it wrote before stays. Its key is never admitted again; with a new key, the host can join again. Each other host ignores it as soon as it has read of this."
        ],
        options: [.mirror], forms: [[host]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        try access.sync(&session)
        let own = try signing(of: session).fingerprint
        let word = invocation[operand: "HOST"] ?? ""
        if session.isExpelled(word) {
            try context.say("\(word): already expelled")
            return try access.conclude(&session)
        }
        let signer = try signer(invocation, among: session.signers, "is admitted")
        guard signer.key.fingerprint != own else {
            throw MirrorFailure(.refused("this host has that key; `prefs mirror leave` leaves the mirror"))
        }
        try session.decide(on: signer, isAdmitted: false) { access.wait($0) }
        try context.say("expelled \(signer.label.onOneLine)")
        return try access.conclude(&session)
    }

    private static func signing(of session: MirrorSession) throws -> MirrorSession.Signing {
        guard let signing = session.signing else {
            throw MirrorFailure(.refused("\(session.place): the files of this mirror are not signed"))
        }
        return signing
    }

    /// Returns the host with the key on the command line. A name is not enough, because a host chooses its own: then
    /// the keys of the hosts that have it are reported.
    private static func signer(
        _ invocation: Invocation, among signers: [MirrorSession.Signer], _ what: String
    ) throws -> MirrorSession.Signer {
        let word = invocation[operand: "HOST"] ?? ""
        if let signer = signers.first(where: { $0.key.fingerprint == word }) { return signer }
        let keys = signers.filter { $0.label.hasSameBytes(as: word) }.map(\.key.fingerprint)
        let name = ShellWord.quoted(word.onOneLine)
        guard !keys.isEmpty else { throw MirrorFailure(.unknown("\(name): no host of this name or key \(what)")) }
        throw MirrorFailure(
            .refused(
                "the mirror claims that \(name) has the key \(keys.joined(separator: " or ")); "
                    + "compare it with `prefs mirror status` there, then name the key"))
    }

    private static func decide(
        _ invocation: Invocation, _ context: CommandContext, removesFolder: Bool = false,
        _ command: (WriterID) -> MirrorEngine.Command
    ) throws -> ExitStatus {
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        let word = invocation[operand: "HOST"] ?? ""
        let all = try session.status().hosts.filter {
            $0.label.hasSameBytes(as: word) || $0.writer.description == word
        }
        // The status does not list the others.
        let listed = all.filter { !$0.isRetired }
        let hosts = listed.isEmpty ? all : listed
        guard let host = hosts.first else {
            throw MirrorFailure(.unknown("\(ShellWord.quoted(word.onOneLine)): no other host has this name"))
        }
        guard hosts.count == 1 else {
            let numbers = hosts.map(\.writer.description).joined(separator: ", ")
            throw MirrorFailure(.refused("several hosts have this name; specify one by its ID: \(numbers)"))
        }
        try session.carryOut(command(host.writer)) { access.wait($0) }
        guard removesFolder, host.lastChange != nil else { return try access.conclude(&session) }
        if session.hasNoFolder(of: host.writer) {
            try context.say("removed the folder of \(host.label.onOneLine); its values stay in force")
            return try access.conclude(&session)
        }
        let status = try access.conclude(&session)
        context.note("the folder of \(host.label.onOneLine) was not removed")
        return max(.systemFailed, status)
    }
}

extension Option {
    fileprivate static let anyway = Option("--anyway", "even if no other host has read the last changes of this host")
    fileprivate static let takeFile = Option("--take-file", "use the values in the file")
    fileprivate static let takeMirror = Option("--take-mirror", "use the values in the mirror")
}
