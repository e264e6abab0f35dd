internal import Platform
internal import Preferences
internal import PreferencesMirror

extension DoctorCheck {
    /// The user's files and folders that others can read or write, or that another user owns.
    static let permissions = DoctorCheck(subject: "permissions and owners") { checkup in
        let files = checkup.files
        let owner = checkup.owner
        let ofDomains = Set(
            checkup.domains.filter(\.layer.isOfUser).flatMap { [$0.file.path, $0.file.folder].compactMap(\.self) })
        return paths(checkup).flatMap { path -> [DoctorFinding] in
            guard let status = (try? files.status(of: path, followingLink: false)) ?? nil else { return [] }
            guard status.kind == .symbolicLink else { return complaints(path, status, owner, checkup) }
            if path.parent.components.contains(Array(".locks".utf8)[...]) {
                return [
                    DoctorFinding(
                        path.description, "is a symbolic link, so it cannot be locked",
                        .command(["rm", "-f"], on: path))
                ]
            }
            // Other links are not followed: their targets are not the store's concern.
            guard ofDomains.contains(path), let (target, status) = checkup.target(ofLink: path) else { return [] }
            guard status.owner == owner else {
                return [
                    DoctorFinding(
                        path.description, "leads to \(target), which belongs to another user (\(status.owner))",
                        .advice("replace the link if that is not meant"))
                ]
            }
            return complaints(target, status, owner, checkup)
        }
    }

    private static func paths(_ checkup: DoctorContext) -> [FilePath] {
        guard checkup.user.arrangement == .own else { return checkup.domains.map(\.file.path) }
        let mirrors = (try? MirrorPlaces(checkup.access.places, on: checkup.machine))?.folder.parent
        var paths: [FilePath] = []
        for folder in [checkup.user.folder, checkup.user.history, mirrors].compactMap(\.self)
        where !paths.contains(folder) {
            collect(folder, depth: 4, checkup, into: &paths)
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

    private static func complaints(
        _ path: FilePath, _ status: FileStatus, _ owner: UInt32, _ checkup: DoctorContext
    ) -> [DoctorFinding] {
        if status.owner != owner {
            return [
                DoctorFinding(
                    path.description, "belongs to another user (\(status.owner))",
                    .command(["sudo", "chown", owner.description], on: path))
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
            let who = owner == checkup.machine.environment.user ? "you" : "its owner"
            findings.append(
                DoctorFinding(
                    path.description, "\(who) cannot \(status.kind == .folder ? "use" : "read and write") it",
                    .command(["chmod", status.kind == .folder ? "u+rwx" : "u+rw"], on: path)))
        }
        return findings
    }
}
