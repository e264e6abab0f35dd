internal import Platform
internal import Preferences

extension Verb {
    package static let undo = Verb(
        "undo", .new, "undo the last change of a domain, or the last N",
        details: [
            "A change is any write that made a difference, by any program. Undo reverts the latest change that is not undone yet, so two in a row revert two; undoing the first change removes the file.",
            "An undo can be undone: it prints the command that does so. Values that the administrator forces are unchanged.",
        ],
        options: [.layer, .force], forms: [[.domain, Operand("N", .word, .optional)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let steps = try number(invocation[operand: "N"] ?? "1", "a number of steps")
        let history = try access.history(of: domain)
        try access.bringBack(domain, .undo(to: 0), invocation) { draft in
            guard let (state, sequence) = try history.readableWay(steps, from: draft, domain) else {
                let what = steps == 1 ? "no earlier version is" : "fewer than \(steps) earlier versions are"
                throw CommandFailure(.notFound, "\(domain.word.onOneLine): \(what) kept; nothing was changed")
            }
            draft.reason = .undo(to: sequence)
            return state
        }
        return .done
    }

    package static let restore = Verb(
        "restore", .new, "restore a version of a domain",
        details: [
            "ID is the number that prefs history prints. The file keeps its current format, unless only the format differs. Values that the administrator forces are unchanged."
        ],
        options: [.layer, .force], forms: [[.domain, Operand("ID", .word)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let id = try number(invocation[operand: "ID"] ?? "", "the number of a version")
        let history = try access.history(of: domain)
        guard let version = history.versions.first(where: { $0.sequence == id }), !history.isLost(version) else {
            throw CommandFailure(
                .notFound, "\(domain.word.onOneLine): no version \(id) is kept; `prefs history` lists those that are")
        }
        guard let state = history.state(of: version) else { throw CommandFailure.damagedVersion(id, domain) }
        try access.bringBack(domain, .restore, invocation) { draft in
            var state = state
            if draft.exists, state.format != nil, state.values != draft.values { state.format = draft.format }
            return state
        }
        return .done
    }

    /// Parses an integer of at least 1.
    private static func number(_ word: String, _ meaning: String) throws -> Int {
        guard let number = Int(word), number > 0 else {
            throw CommandFailure(.usage, "\(ShellWord.quoted(word.onOneLine)) is not \(meaning)")
        }
        return number
    }
}

extension History {
    fileprivate func readableWay(
        _ steps: Int, from draft: DomainDraft, _ domain: AddressedDomain
    ) throws -> (state: DomainState, sequence: Int)? {
        do throws(DamagedVersion) {
            return try back(steps, from: DomainState(draft))
        } catch {
            throw CommandFailure.damagedVersion(error.sequence, domain)
        }
    }
}

extension CommandFailure {
    fileprivate static func damagedVersion(_ sequence: Int, _ domain: AddressedDomain) -> CommandFailure {
        CommandFailure(
            .damaged, "\(domain.word.onOneLine): version \(sequence) is damaged; nothing was changed")
    }
}
