internal import Platform
internal import Preferences
internal import PropertyLists

// A damaged file outside of the store is never replaced by a version, so its failure names the command that does so.

extension StoreAccess {
    /// Returns the lines for a failure, with the command that restores the last good version of a damaged file.
    func lines(of failure: StoreFailure) -> [String] {
        let lines = failure.lines(offersForce: offersForce)
        guard let version = failure.goodVersion else { return lines }
        return lines + [command(restoring: version, of: failure)].compactMap(\.self)
    }

    private func command(restoring version: KeptVersion, of failure: StoreFailure) -> String? {
        if DomainArgument.isPath(failure.domain) { return command(restoring: version, ofFile: failure.domain) }
        guard let name = try? DomainName(failure.domain), let path = failure.file else { return nil }
        let layer = Layer.writable.first { layer in
            guard let file = try? places.place(of: layer, on: host)?.file(of: name) else { return false }
            return [file.path, file.folder].compactMap { $0?.description }.contains {
                path == $0 || path.hasPrefix($0 + "/")
            }
        }
        return layer.map { command(restoring: version, spelling(failure.domain, in: $0)) }
    }

    /// Returns the command for a file as the command line names it.
    private func command(restoring version: KeptVersion, ofFile word: String) -> String {
        let format = requiredFormat.map { [Option.from.name, $0] } ?? []
        return command(restoring: version, spelling(word, in: .user), options: format)
    }

    private func command(
        restoring version: KeptVersion, _ spelling: CommandSpelling, options: [String] = []
    ) -> String {
        let words = spelling.words([Verb.restore.name], options: options, [version.sequence.description])
        return "to restore the version of \(version.time): \(ShellWord.visibleLine(words))"
    }

    /// Returns the lines for invalid contents of a file, with the command that restores its last good version if one is
    /// kept.
    private func lines(of input: InvalidInput) -> [String] {
        guard DomainArgument.isPath(input.name), let file = try? domain(input.name).file else { return input.lines }
        do throws(StoreFailure) {
            _ = try file.contents(on: system)
            return input.lines
        } catch {
            let line = error.goodVersion.map { command(restoring: $0, ofFile: input.name) }
            return input.lines + [line].compactMap(\.self)
        }
    }

    /// Returns the error of a verb with the command that restores the last good version of a damaged file.
    static func explaining(_ error: any Error, _ invocation: Invocation, _ context: CommandContext) -> any Error {
        let isDamage = (error as? StoreFailure)?.goodVersion != nil || error is InvalidInput
        // The store may have reported something already.
        guard isDamage, let access = try? StoreAccess(invocation, context.capturingErrors().context) else {
            return error
        }
        switch error {
        case let failure as StoreFailure:
            let lines = access.lines(of: failure)
            return CommandFailure(failure.status, lines, classic: lines)
        case let input as InvalidInput:
            let lines = access.lines(of: input)
            return CommandFailure(input.status, lines, classic: lines)
        default: return error
        }
    }
}
