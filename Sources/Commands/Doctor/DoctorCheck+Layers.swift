internal import Platform
internal import Preferences
internal import PropertyLists

extension DoctorCheck {
    /// Files in the forced layer that are ignored because users other than the administrator could have written them.
    static let forcedFiles = DoctorCheck(subject: "forced files that are ignored") { checkup in
        guard let folder = checkup.access.places.forced?.folder else { return [] }
        let paths = checkup.domains.filter { $0.layer == .forced }.flatMap { checkup.paths(of: $0.file) }
        return ((paths.isEmpty ? [] : [folder]) + paths).flatMap { path in
            ((try? checkup.files.status(of: path)) ?? nil).map {
                reasons(path, $0, checkup.machine.administrator)
            } ?? []
        }
    }

    /// Files and folders in the administrator's layers that not everyone can read: forced values then cause an error
    /// for other users, and defaults do not reach them. A file with a sensitive value must not be opened; the value is
    /// to be removed.
    static let closedLayers = DoctorCheck(subject: "layers of the administrator that not everyone can read") {
        checkup in
        var seen: Set<FilePath> = []
        var findings: [DoctorFinding] = []
        func look(_ path: FilePath, _ needed: FilePermissions, _ mode: String) {
            guard seen.insert(path).inserted else { return }
            let status: FileStatus?
            do throws(SystemFailure) { status = try checkup.files.status(of: path) } catch { return }
            guard let status, !status.permissions.isSuperset(of: needed) else { return }
            findings.append(
                DoctorFinding(
                    path.description, "not everyone can read it", .command(["sudo", "chmod", mode], on: path)))
        }
        let places = checkup.access.places
        for folder in places.site.map(\.folder) + [places.forced?.folder].compactMap(\.self) {
            // If the layer does not exist, its parent folders are not checked.
            if case .success(nil) = Result(catching: { try checkup.files.status(of: folder) }) { continue }
            var chain = [folder]
            while let last = chain.last, last.parent != last { chain.append(last.parent) }
            for path in chain.reversed() {
                look(path, FilePermissions(rawValue: path == folder ? 0o005 : 0o001), path == folder ? "a+rx" : "a+x")
            }
        }
        for domain in checkup.domains where !domain.layer.isOfUser {
            if let secret = secret(in: domain, checkup) {
                findings.append(
                    DoctorFinding(
                        "\(domain.name) \(secret)",
                        "is sensitive, but everyone can read the layer \(domain.layer) (\(domain.file.place(on: checkup.machine)))",
                        checkup.removal(of: secret, in: domain)))
            } else {
                for path in checkup.paths(of: domain.file) {
                    let isFolder = path == domain.file.folder
                    look(path, FilePermissions(rawValue: isFolder ? 0o005 : 0o004), isFolder ? "a+rx" : "a+r")
                }
            }
        }
        return findings
    }

    /// Returns the first key of a domain whose value is sensitive.
    private static func secret(in domain: CheckedDomain, _ checkup: DoctorContext) -> String? {
        guard let values = try? domain.file.contents(on: checkup.machine).values,
            let addressed = try? checkup.access.domain(domain.name, in: domain.layer)
        else { return nil }
        let masking = checkup.access.masking(addressed)
        return values.first { masking.touches($0.value, at: [EntryPath.Component($0.key)]) }?.key
    }

    private static func reasons(
        _ path: FilePath, _ status: FileStatus, _ administrator: UInt32
    ) -> [DoctorFinding] {
        let what = status.kind == .folder ? "its contents are ignored" : "it is ignored"
        var findings: [DoctorFinding] = []
        if status.owner != administrator {
            let owner = administrator == 0 ? "root" : administrator.description
            findings.append(
                DoctorFinding(
                    path.description, "\(what): it does not belong to \(owner)",
                    .command(["sudo", "chown", owner], on: path)))
        }
        if status.isWritableByAny {
            findings.append(
                DoctorFinding(
                    path.description, "\(what): users other than its owner can write to it",
                    .command(["sudo", "chmod", "go-w"], on: path)))
        }
        return findings
    }
}
