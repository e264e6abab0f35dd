internal import Platform
internal import Preferences

extension DoctorCheck {
    /// The user's files and folders that others can read or write, or that another user owns.
    static let permissions = DoctorCheck(subject: "permissions and owners") { checkup in
        var findings: [DoctorFinding] = []
        for path in paths(checkup) {
            guard let status = (try? checkup.files.status(of: path)) ?? nil else { continue }
            findings += complaints(path, status, checkup.machine.environment.user)
        }
        return findings
    }

    private static func paths(_ checkup: DoctorContext) -> [FilePath] {
        guard checkup.user.arrangement == .own else { return checkup.domains.map(\.file.path) }
        var paths: [FilePath] = []
        collect(checkup.user.folder, depth: 4, checkup, into: &paths)
        if !paths.contains(checkup.user.history) {
            collect(checkup.user.history, depth: 4, checkup, into: &paths)
        }
        return paths
    }

    /// Collects a path and everything below it. Symbolic links are checked but not descended into.
    private static func collect(
        _ path: FilePath, depth: Int, _ checkup: DoctorContext, into paths: inout [FilePath]
    ) {
        // A folder that cannot be used is reported itself, not each file in it.
        guard let status = (try? checkup.files.status(of: path, followingLink: false)) ?? nil else { return }
        // Versions of a file given by its path have that file's permissions, which are not the store's concern.
        if status.kind == .folder || path.parent.parent.lastComponent != ".paths" { paths.append(path) }
        guard status.kind == .folder, depth > 0, let names = try? checkup.files.names(in: path) else { return }
        let isDomain = checkup.domainFolders.contains(path)
        for name in names {
            // The files of others in a domain's folder are not the store's concern, nor are the targets of links in it.
            if isDomain {
                let found = (try? checkup.files.status(of: path.appending(name), followingLink: false)) ?? nil
                guard MemberName(name) != nil, found?.kind == .file else { continue }
            }
            collect(path.appending(name), depth: depth - 1, checkup, into: &paths)
        }
    }

    private static func complaints(_ path: FilePath, _ status: FileStatus, _ user: UInt32) -> [DoctorFinding] {
        if status.owner != user {
            return [
                DoctorFinding(
                    path.description, "belongs to another user (\(status.owner))",
                    .command(["sudo", "chown", user.description], on: path))
            ]
        }
        var findings: [DoctorFinding] = []
        if status.isWritableByAny || status.isExposed {
            findings.append(
                DoctorFinding(
                    path.description, status.isWritableByAny ? "others can write it" : "others can read it",
                    .command(["chmod", "go-rwx"], on: path)))
        }
        let needed: FilePermissions = status.kind == .folder ? .privateFolder : .privateFile
        if !status.permissions.isSuperset(of: needed) {
            findings.append(
                DoctorFinding(
                    path.description, "you cannot \(status.kind == .folder ? "use" : "read and write") it",
                    .command(["chmod", status.kind == .folder ? "u+rwx" : "u+rw"], on: path)))
        }
        return findings
    }
}
