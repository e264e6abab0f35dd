internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

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
                let rows = status.rows(at: context.clock.wall)
                try access.say(MirrorStatusText.text(status, at: session.place, rows))
                for trouble in status.troubles { access.note(trouble) }
            }
            return ExitStatus(status.condition)
        }
    }

    static let log = Verb(
        "log", .new, "print what changed, when, and on which host",
        details: [
            "A line has the time, the revision, the host and the entry: the last change of each entry that there is, or was. With --since REV, only changes after that revision are printed."
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
            for write in session.mergeState.writes.sorted(by: { !$0.isAfter($1) && $0 != $1 }) {
                if let first, write.stamp <= first { continue }
                try context.say(line(of: write, session))
            }
            return .done
        }
    }

    private static func line(of write: VersionedWrite, _ session: MirrorSession) -> String {
        let time = Timestamp(seconds: Int64(write.stamp.milliseconds / 1000), nanoseconds: 0)
        let when = write.stamp == .zero ? "before joining" : time.description
        let revision = String(write.stamp.number, radix: 16)
        let what = write.value.value == nil ? " deleted" : ""
        return [
            when, revision, session.host(write.transactionID.writer), write.path.domain, write.path.entry.description,
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
            let pack = try pack(bytes, at: name, context)
            for line in pack.lines { try context.say(line.onOneLine) }
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
