internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror

// What a person decides.
extension MirrorVerbs {
    static let conflicts = Verb(
        "conflicts", .new, "list conflicts, or show, accept or restore one",
        details: [
            "A conflict is a change of this host that lost against another host's, where neither had seen the other. The other one is in force; what lost is kept here. Accept lets it go, restore writes it anew."
        ],
        options: [.mirror],
        forms: [[], [ConflictAction.operand, Operand("N", .word)]],
        statuses: [.invalidValue] + outcomes
    ) { invocation, surroundings in
        let access = try MirrorAccess(invocation, surroundings)
        guard let action = invocation[operand: ConflictAction.operand.name].flatMap(ConflictAction.init) else {
            return try access.each { session in
                _ = try session.status()
                for (number, conflict) in session.openConflicts {
                    try surroundings.say(ConflictText.line(number, conflict, session))
                }
                return session.openConflicts.isEmpty ? .done : .conflicts
            }
        }
        var session = try access.one()
        let conflict = try conflict(invocation[operand: "N"] ?? "", in: &session)
        switch action {
        case .show:
            for line in ConflictText.lines(conflict, session) { try surroundings.say(line) }
            return .done
        case .accept: try session.carryOut(.resolve([conflict.id])) { access.wait($0) }
        case .restore: try session.carryOut(.restore([conflict.id])) { access.wait($0) }
        }
        return try access.conclude(&session)
    }

    /// The open conflict of a number.
    private static func conflict(
        _ word: String, in session: inout MirrorSession
    ) throws -> ConflictJournal.Conflict {
        _ = try session.status()
        guard let number = Int(word), let found = session.openConflicts.first(where: { $0.number == number }) else {
            throw MirrorFailure(
                .unknown("\(ShellWord.quoted(word.onOneLine)): there is no open conflict of this number"))
        }
        return found.conflict
    }

    static let release = Verb(
        "release", .new, "decide about a domain that is held",
        details: [
            "A domain is held where its file is gone, empty, unreadable or suddenly another, and nobody said so. What was kept of it stays as it was on the other hosts."
        ],
        options: [.takeFile, .takeMirror, .mirror], forms: [[.domain]], statuses: [.invalidValue] + outcomes
    ) { invocation, surroundings in
        let access = try MirrorAccess(invocation, surroundings)
        guard invocation.has(.takeFile) != invocation.has(.takeMirror) else {
            throw CommandFailure(.usage, "say either --take-file or --take-mirror")
        }
        var session = try access.one()
        let word = invocation[operand: "DOMAIN"] ?? ""
        let domain = try DomainName(word: word).text
        guard let held = try session.status().held.first(where: { $0.domain == domain }) else {
            throw MirrorFailure(.unknown("\(domain.onOneLine) is not held"))
        }
        if held.reason == .unreadable, invocation.has(.takeFile) {
            throw MirrorFailure(.refused("\(domain.onOneLine): its file cannot be read; mend it, or --take-mirror"))
        }
        try session.carryOut(.release(domain: domain, takesFile: invocation.has(.takeFile))) { access.wait($0) }
        return try access.conclude(&session)
    }

    static let pause = Verb(
        "pause", .new, "exchange nothing for now", options: [.mirror], statuses: outcomes
    ) { invocation, surroundings in try take(.pause, wanting: .paused, invocation, surroundings) }

    static let resume = Verb(
        "resume", .new, "exchange again", options: [.mirror], statuses: outcomes
    ) { invocation, surroundings in try take(.resume, wanting: .inSync, invocation, surroundings) }

    private static func take(
        _ command: MirrorEngine.Command, wanting wanted: MirrorCondition, _ invocation: Invocation,
        _ surroundings: Surroundings
    ) throws -> ExitStatus {
        let access = try MirrorAccess(invocation, surroundings)
        return try access.each { session in
            try session.carryOut(command) { access.wait($0) }
            return try access.conclude(&session, wanting: wanted)
        }
    }

    static let leave = Verb(
        "leave", .new, "take part no more, and say so",
        details: [
            "The domains' files stay as they are, and what this host has written stays in force for the others. Where nothing can be said in the directory, this host leaves at the next exchange."
        ],
        options: [.mirror], statuses: outcomes
    ) { invocation, surroundings in
        let access = try MirrorAccess(invocation, surroundings)
        var session = try access.one()
        try session.carryOut(.leave) { access.wait($0) }
        guard session.engine.local.folder.hasLeft else {
            let status = try access.conclude(&session)
            try access.note(MirrorLine.leaving)
            return max(.waiting, status)
        }
        try access.places.forget(session.id)
        return .done
    }

    static let detach = Verb(
        "detach", .new, "forget the mirror without a word to it",
        details: ["The domains' files stay as they are. Changes that were not published yet stay in them, too."],
        options: [.mirror], statuses: outcomes
    ) { invocation, surroundings in
        let access = try MirrorAccess(invocation, surroundings)
        var session = try access.one()
        // A program that watches hears of it, and creates nothing more.
        try session.tell(.detach)
        try access.places.forget(session.id)
        return .done
    }

    static let retire = Verb(
        "retire", .new, "show a host no more that will not come back", options: [.mirror], forms: [[host]],
        statuses: [.invalidValue] + outcomes
    ) { invocation, surroundings in
        try decide(invocation, surroundings) { .retire($0) }
    }

    static let purge = Verb(
        "purge", .new, "remove the folder of a host, keeping what it said",
        details: ["What the host has written is first taken over by this one, so nothing changes for anybody."],
        options: [.mirror], forms: [[host]], statuses: [.invalidValue] + outcomes
    ) { invocation, surroundings in
        try decide(invocation, surroundings, removesFolder: true) { .purge($0) }
    }

    private static func decide(
        _ invocation: Invocation, _ surroundings: Surroundings, removesFolder: Bool = false,
        _ command: (WriterID) -> MirrorEngine.Command
    ) throws -> ExitStatus {
        let access = try MirrorAccess(invocation, surroundings)
        var session = try access.one()
        let word = invocation[operand: "HOST"] ?? ""
        let hosts = try session.status().hosts.filter { $0.label == word || $0.writer.description == word }
        guard let host = hosts.first else {
            throw MirrorFailure(.unknown("\(ShellWord.quoted(word.onOneLine)): no other host of this name takes part"))
        }
        guard hosts.count == 1 else {
            let numbers = hosts.map(\.writer.description).joined(separator: ", ")
            throw MirrorFailure(.refused("several hosts are called so; name one by its number: \(numbers)"))
        }
        try session.carryOut(command(host.writer)) { access.wait($0) }
        guard removesFolder, host.lastChange != nil else { return try access.conclude(&session) }
        if session.hasNoFolder(of: host.writer) {
            try surroundings.say("removed the folder of \(host.label.onOneLine); what it said stays in force")
            return try access.conclude(&session)
        }
        let status = try access.conclude(&session)
        try surroundings.note("the folder of \(host.label.onOneLine) is still there")
        return max(.systemFailed, status)
    }
}

/// What may be done about a conflict.
private enum ConflictAction: String, CaseIterable {
    case show, accept, restore

    static let operand: Operand = {
        let words = allCases.map(\.rawValue)
        return Operand(words.joined(separator: "|"), .choice(.words(words)))
    }()
}

extension Option {
    fileprivate static let takeFile = Option("--take-file", "what stands in the file counts")
    fileprivate static let takeMirror = Option("--take-mirror", "what the mirror has counts")
}
