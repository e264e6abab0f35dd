internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror

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
            try access.check(session)
            let progress = Progress("files checked", context)
            let findings = try session.examine { progress.note($0, of: $1) }
            progress.end()
            for finding in findings { try access.say(FolderFindingText.line(finding, session)) }
            if findings.isEmpty { try context.say("\(session.place): no problems found") }
            return findings.isEmpty ? .done : findings.allSatisfy(\.isOfWaiting) ? .waiting : .damaged
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
        let progress = Progress("files read", context)
        let packs = try session.packsInView { progress.note($0, of: $1) }
        progress.end()
        try session.carryOut(.rebuild(packs)) { access.wait($0) }
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
