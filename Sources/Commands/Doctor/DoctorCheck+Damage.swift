internal import Platform
internal import Preferences
internal import PropertyLists

extension DoctorCheck {
    /// Unreadable files: domains and kept versions.
    static let damage = DoctorCheck(subject: "unreadable and damaged files") { checkup in
        var findings: [DoctorFinding] = []
        for domain in checkup.domains {
            // Another user's file is not the store's concern, and must not be changed through a link in the store.
            if domain.layer.isOfUser, let target = checkup.target(ofLink: domain.file.path),
                target.status.owner != checkup.owner
            {
                continue
            }
            findings += damaged(domain, checkup)
            if domain.layer.isOfUser { findings += damagedVersions(of: domain, checkup) }
        }
        return findings
    }

    private static func damaged(_ domain: CheckedDomain, _ checkup: DoctorContext) -> [DoctorFinding] {
        do throws(StoreFailure) {
            guard let recovery = try domain.file.contents(on: checkup.machine).recovery,
                let version = recovery.version
            else {
                return []
            }
            return ([recovery.damage] + recovery.others).map { damage in
                DoctorFinding(
                    damage.description, "damaged; the version of \(version.time) is used instead",
                    remedy(version, domain, checkup))
            }
        } catch {
            return [finding(error, domain, checkup)].compactMap(\.self)
        }
    }

    /// Returns the command that replaces a damaged file by its version. To restore a whole folder would also revert its
    /// other files, so that of a folder is rewritten.
    private static func remedy(
        _ version: KeptVersion, _ domain: CheckedDomain, _ checkup: DoctorContext
    ) -> DoctorFinding.Remedy {
        guard domain.file.place(on: checkup.machine) == domain.file.folder else {
            return checkup.command("restore", domain, [version.sequence.description])
        }
        return checkup.command("convert", domain, ["folder"])
    }

    private static func finding(
        _ error: StoreFailure, _ domain: CheckedDomain, _ checkup: DoctorContext
    ) -> DoctorFinding? {
        if error.isDamage {
            if let path = error.file.flatMap({ FilePath($0) }), let name = path.lastComponent,
                path.parent == domain.file.folder
            {
                return DoctorFinding(
                    error.description,
                    "damaged, and no version of it is kept; until it is fixed or set aside, the domain cannot be read",
                    .command(["mv", "-n"], on: path, path.parent.appending(name.appending(".damaged-0" as FileName))))
            }
            return DoctorFinding(
                error.description, "damaged, and no version of it is kept; deleting the domain sets the file aside",
                checkup.command("delete", domain))
        }
        return refused(error, domain)
    }

    /// Returns a failure of the system as a finding. Missing read permission is reported by the permissions check.
    private static func refused(_ failure: StoreFailure, _ domain: CheckedDomain) -> DoctorFinding? {
        let path = failure.file.flatMap { FilePath($0) } ?? domain.file.path
        guard case .system(ErrorCode.accessDenied.rawValue, _) = failure.problem else {
            // The kernel log has entries only for failures of the device.
            let isOfDisk =
                if case .system(ErrorCode.inputOutput.rawValue, _) = failure.problem { true } else { false }
            return DoctorFinding(
                path.description, failure.description,
                .advice(isOfDisk ? "check the kernel log for disk errors: dmesg" : "inspect it: ls -ld \(path)"))
        }
        return nil
    }

    private static func damagedVersions(of domain: CheckedDomain, _ checkup: DoctorContext) -> [DoctorFinding] {
        guard let history = History(of: domain.file, on: checkup.machine) else { return [] }
        return history.versions.filter { history.state(of: $0) == nil }.compactMap { version in
            guard history.failure(of: version) == nil, let path = history.path(of: version) else { return nil }
            return DoctorFinding(
                path.description, "version \(version.sequence) of \(domain.name) is damaged",
                .command(["rm", "-f"], on: path))
        }
    }

    /// Damaged files that were set aside when a new file was written.
    static let leftovers = DoctorCheck(subject: "damaged files that were set aside") { checkup in
        guard checkup.user.arrangement == .own else { return [] }
        return (checkup.writtenFolders.prefix(2) + checkup.domainFolders).flatMap { folder in
            checkup.names(in: folder).filter(isLeftover).map { name in
                let path = folder.appending(name)
                return DoctorFinding(
                    path.description, "damaged, and set aside; remove it if nothing in it is needed",
                    .command(["rm", "-f"], on: path))
            }
        }
    }

    private static func isLeftover(_ name: FileName) -> Bool {
        guard let range = name.description.firstRange(of: ".damaged-"),
            [".plist", ".txt", ".data"].contains(where: name.description[..<range.lowerBound].hasSuffix)
        else { return false }
        return name.description[range.upperBound...].allSatisfy { $0.isNumber || $0 == "-" }
    }

    /// Files in the folders of domains that hold no value, and are ignored.
    static let foreignFiles = DoctorCheck(subject: "other files in the folders of domains") { checkup in
        checkup.domainFolders.flatMap { folder in
            checkup.names(in: folder).filter { name in
                MemberName(name) == nil && !isLeftover(name) && !name.isTemporary
                    && name.bytes.first != UInt8(ascii: ".")
            }.map { name in
                let path = folder.appending(name)
                if let proper = MemberName.properName(of: name) {
                    return DoctorFinding(
                        path.description, "ignored: the file of this key is named \(proper)",
                        .command(["mv", "-n"], on: path, folder.appending(proper)))
                }
                return DoctorFinding(
                    path.description, "not a value of the domain; it is ignored",
                    .advice("move it elsewhere, or keep it"))
            }
        }
    }
}
