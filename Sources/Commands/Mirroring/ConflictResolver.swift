internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

/// A program that resolves new conflicts, if the settings of the store name one.
///
/// It reads the conflict as `conflicts --format json` prints it, and prints one of these answers:
///
///     {"accept": true}
///     {"restore": true}
///     {"value": …}
struct ConflictResolver {
    private let program: FilePath
    private let access: MirrorAccess

    private static let mostMilliseconds = 10_000
    private static let mostBytes = 1 << 20

    /// Throws if the program must not be run: its path is relative, another user owns the store, or users other than
    /// the owner and root could change the program.
    init(_ word: String, _ access: MirrorAccess) throws {
        guard let path = FilePath(word), path.isAbsolute else {
            throw CommandFailure(.invalidValue, "\(word.onOneLine): not run, because it is not an absolute path")
        }
        let (files, user) = (access.context.fileSystem, access.context.environment.user)
        // Root must not run what another user names, with values of that user as its input.
        guard try files.status(of: access.places.store.user.folder)?.owner == user else {
            throw CommandFailure(.invalidValue, "\(word.onOneLine): not run, because another user owns the store")
        }
        let target = try path.followingLinks(in: files)
        guard let status = try files.status(of: target), status.kind == .file,
            let folder = try files.status(of: target.parent)
        else { throw CommandFailure(.notFound, "\(word.onOneLine): no such file") }
        let owners = [0, user]
        let isPlanted = folder.isWritableByAny && !folder.permissions.contains(.sticky)
        guard owners.contains(status.owner), owners.contains(folder.owner), !status.isWritableByAny, !isPlanted else {
            throw CommandFailure(.invalidValue, "\(word.onOneLine): not run, because other users can change it")
        }
        (program, self.access) = (path, access)
    }

    /// Resolves conflicts, and returns those that stay open, each with a line that states why.
    func resolve(_ conflicts: [ListedConflict]) -> [ListedConflict] {
        guard var session = conflicts.first?.session else { return [] }
        let names = ConflictNames(of: [session])
        let former = Set(session.resolvedConflicts.map { Name($0.name(in: session.id)) })
        var (open, isFit) = ([ListedConflict](), true)
        for conflict in conflicts {
            // A second attempt could be the next turn of a quarrel with another program.
            guard isFit, !conflict.isOfOlder, !former.contains(Name(conflict.name)) else {
                open.append(conflict)
                continue
            }
            let subject = "conflict \(names.short(conflict.name))"
            do {
                guard let outcome = try resolve(conflict, in: &session) else {
                    open.append(conflict)
                    continue
                }
                access.note("\(subject): \(outcome.word) by \(program.description.onOneLine)")
            } catch {
                // It is not run again in this exchange, which would take as long.
                if error is LimitedProgram.Failure { isFit = false }
                let reason = (error as? LimitedProgram.Failure).map { "\(program) \($0)" } ?? error.asLine
                access.note("\(subject) stays open: \(reason.onOneLine)")
                open.append(conflict)
            }
        }
        return open
    }

    /// Resolves a conflict. Returns nil for sensitive values, which the program does not get.
    private func resolve(
        _ conflict: ListedConflict, in session: inout MirrorSession
    ) throws -> ConflictResolution.Outcome? {
        let masking = try access.masking(conflict.place.domain)
        let resolution = try ConflictResolution(of: conflict, access)
        guard !resolution.touchesSecrets(masking) else { return nil }
        guard resolution.isShown else {
            throw CommandFailure(.conflicts, "\(conflict.place.place): the file here has another value")
        }
        let limited = LimitedProgram(
            path: program, words: [program.word], mostMilliseconds: Self.mostMilliseconds, mostBytes: Self.mostBytes)
        let answer = try access.context.system.output(limited, Array(conflict.json(masking).utf8))
        guard let outcome = ConflictResolution.Outcome(answer: answer) else {
            throw CommandFailure(.invalidValue, "\(program): unknown answer: \(ByteText.text(answer).onOneLine)")
        }
        try resolution.carryOut(outcome, in: &session)
        return outcome
    }
}

extension ConflictResolution.Outcome {
    /// Parses the answer of a program.
    fileprivate init?(answer: [UInt8]) {
        guard let text = String(validating: answer, as: UTF8.self),
            let entries = (try? LosslessJSON.value(of: text))?.dictionaryValue, entries.count == 1
        else { return nil }
        if entries["accept"] == true {
            self = .accept
        } else if entries["restore"] == true {
            self = .restore
        } else if let value = entries["value"] {
            self = .value(value)
        } else {
            return nil
        }
    }

    fileprivate var word: String {
        switch self {
        case .accept: "accepted"
        case .restore: "restored"
        case .value: "merged"
        }
    }
}
