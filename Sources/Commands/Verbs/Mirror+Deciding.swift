internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

// Decisions of the user.
extension MirrorVerbs {
    static let conflicts = Verb(
        "conflicts", .new, "list, show, accept or restore conflicts",
        details: [
            "A conflict is a value of this host that another host replaced without having seen it. The other value is in force, and the lost one is kept here. There is one conflict for each key.",
            "Without an action, the open conflicts are listed, of one domain if it is named. `show` prints the lost values and the one in force, `accept` keeps the value in force, and `restore` writes the lost value again, on all hosts. Each takes numbers from the list, domains, or --all.",
            "A resolved conflict is kept for 90 days, and `restore` takes its number too.",
        ],
        options: [.all, .format([.text, .json]), .mirror],
        forms: [[], [.domain], [ConflictAction.operand, Operand("N|DOMAIN", .domain, .oneOrMore)]],
        statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let isAll = invocation.has(.all)
        // A single word can be either a domain or an action without operands.
        let word = invocation[operand: ConflictAction.operand.name] ?? invocation[operand: "DOMAIN"]
        guard let action = word.flatMap(ConflictAction.init) else {
            if let word, Int(word) != nil {
                throw CommandFailure(.usage, "\(word): specify what to do with it: show, accept or restore")
            }
            let domain = try word.map { try DomainName(word: $0).text }
            var isMirrored = false
            let status = try access.each { session in
                let domains = try session.status().domains
                let items = session.conflicts.items.filter { item in
                    (isAll || item.isOpen) && (domain.map { item.key.domain.hasSameBytes(as: $0) } ?? true)
                }
                if let domain, !items.isEmpty || domains.contains(exactly: domain) { isMirrored = true }
                for item in items {
                    let text = ConflictText(item: item, session: session, masking: try access.masking(item.key.domain))
                    let line = invocation.format == .json ? text.json ?? "" : text.line(withState: isAll)
                    try context.say(line)
                }
                return items.contains(where: \.isOpen) ? .conflicts : .done
            }
            if let domain, !isMirrored {
                throw MirrorFailure(.unknown("\(domain.onOneLine): not a mirrored domain"))
            }
            return status
        }
        let words = invocation.words("N|DOMAIN")
        guard isAll == words.isEmpty else {
            throw CommandFailure(.usage, "\(action.rawValue): specify conflicts by number or domain, or --all")
        }
        var session = try access.one()
        _ = try session.status()
        let items =
            try isAll
            ? session.conflicts.items.filter(\.isOpen)
            : words.flatMap { try conflicts($0, action, in: session) }
        let ids = items.flatMap(\.conflicts).map(\.id)
        switch action {
        case .show:
            for item in items {
                let text = ConflictText(item: item, session: session, masking: try access.masking(item.key.domain))
                for line in invocation.format == .json ? [text.json ?? ""] : text.lines { try context.say(line) }
            }
            return .done
        case .accept: try session.carryOut(.resolve(ids)) { access.wait($0) }
        case .restore:
            try restoreHere(items.filter { session.staysLocal($0.key) }, &session, access)
            try session.carryOut(.restore(ids)) { access.wait($0) }
        }
        return try access.conclude(&session)
    }

    /// Writes the lost values of keys that are not mirrored into the files of this host.
    private static func restoreHere(
        _ items: [ConflictJournal.Item], _ session: inout MirrorSession, _ access: MirrorAccess
    ) throws {
        for (domain, items) in Dictionary(grouping: items, by: { Name($0.key.domain) }) {
            let conflicts = items.flatMap(\.conflicts)
            let edit = DomainEdit(try access.stored.domain(DomainName(domain.text)).file) { draft in
                var values = PropertyList.dictionary(draft.values)
                for conflict in conflicts { values[conflict.path.entry] = try conflict.value.value?.decoded() }
                draft.values = values.dictionaryValue ?? draft.values
            }
            try access.stored.commit([edit], .restore)
            try session.carryOut(.resolve(conflicts.map(\.id))) { access.wait($0) }
        }
    }

    /// Returns the conflict with a number, or the open conflicts of a domain.
    private static func conflicts(
        _ word: String, _ action: ConflictAction, in session: MirrorSession
    ) throws -> [ConflictJournal.Item] {
        let items = session.conflicts.items
        if let number = Int(word) {
            let found = items.filter { $0.number == number && ($0.isOpen || action != .accept) }
            if found.isEmpty { throw MirrorFailure(.unknown("\(number): no open conflict has this number")) }
            return found
        }
        let domain = try DomainName(word: word).text
        let found = items.filter { $0.isOpen && $0.key.domain.hasSameBytes(as: domain) }
        if found.isEmpty { throw MirrorFailure(.unknown("\(domain.onOneLine): no open conflict in this domain")) }
        return found
    }

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
        try session.carryOut(.release(domain: domain, takesFile: invocation.has(.takeFile))) { access.wait($0) }
        return try access.conclude(&session)
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
            "The domains' files stay as they are, and what this host has written stays in force for the others. If the directory is not writable, this host leaves at the next exchange."
        ],
        options: [.mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        try session.carryOut(.leave) { access.wait($0) }
        guard session.hasLeft else {
            let status = try access.conclude(&session)
            access.note(MirrorLine.leaving)
            return max(.waiting, status)
        }
        try session.forget()
        return .done
    }

    static let detach = Verb(
        "detach", .new, "leave the mirror without notifying the other hosts",
        details: ["The domains' files stay as they are. Changes that were not published yet stay in them, too."],
        options: [.mirror], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        // Notifies a watching process, so that it creates no more files.
        try session.submit(.detach)
        try session.forget()
        return .done
    }

    static let retire = Verb(
        "retire", .new, "hide a host that will not return", options: [.mirror], forms: [[host]],
        statuses: [.invalidValue] + outcomes
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

    private static func decide(
        _ invocation: Invocation, _ context: CommandContext, removesFolder: Bool = false,
        _ command: (WriterID) -> MirrorEngine.Command
    ) throws -> ExitStatus {
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        let word = invocation[operand: "HOST"] ?? ""
        let hosts = try session.status().hosts.filter {
            $0.label.hasSameBytes(as: word) || $0.writer.description == word
        }
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

private enum ConflictAction: String, CaseIterable {
    case show, accept, restore

    static let operand: Operand = {
        let words = allCases.map(\.rawValue)
        return Operand(words.joined(separator: "|"), .choice(.words(words)))
    }()
}

extension Option {
    fileprivate static let all = Option(
        "--all", "list resolved conflicts too; with an action, take all open ones")
    fileprivate static let takeFile = Option("--take-file", "use the values in the file")
    fileprivate static let takeMirror = Option("--take-mirror", "use the values in the mirror")
}
