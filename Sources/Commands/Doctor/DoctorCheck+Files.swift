internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

extension DoctorCheck {
    /// Unreadable files: domains and kept versions.
    static let damage = DoctorCheck(subject: "unreadable and damaged files") { doctor in
        var findings: [DoctorFinding] = []
        for domain in doctor.domains {
            // Another user's file is not the store's concern, and must not be changed through a link in the store.
            if domain.layer.isOfUser, let target = doctor.target(ofLink: domain.file.path),
                target.status.owner != doctor.owner
            {
                continue
            }
            findings += damaged(domain, doctor)
            if domain.layer.isOfUser { findings += damagedVersions(of: domain, doctor) }
        }
        return findings
    }

    private static func damaged(_ domain: CheckedDomain, _ doctor: DoctorContext) -> [DoctorFinding] {
        do throws(StoreFailure) {
            guard let recovery = try domain.file.contents(on: doctor.system).recovery,
                let version = recovery.version
            else {
                return []
            }
            return ([recovery.damage] + recovery.others).map { damage in
                DoctorFinding(
                    damage.description, "damaged; the version of \(version.time) is used instead",
                    remedy(version, domain, doctor))
            }
        } catch {
            return [finding(error, domain, doctor)].compactMap(\.self)
        }
    }

    /// Domains that are files of programs, as far as they cannot be used.
    static let adopted = DoctorCheck(subject: "domains that are files of programs") { doctor in
        ((try? doctor.user.adoptedDomains(on: doctor.system)) ?? []).flatMap { name -> [DoctorFinding] in
            let link = doctor.user.link(of: name).description
            let removal = doctor.command(["adopt", "--remove", name.text])
            do throws(StoreFailure) {
                guard let file = try doctor.access.places.adoptedFile(of: name) else {
                    return [DoctorFinding(link, "has no effect: the administrator forces values of \(name)", removal)]
                }
                let own = doctor.user.file(of: name)
                let isHidden = (try? own.status(on: doctor.system)) != nil
                let hidden =
                    isHidden
                    ? [DoctorFinding(own.path.description, "is not used, because \(link) exists", removal)] : []
                // A known program may create its file later.
                guard try file.contents(on: doctor.system).exists || doctor.access.schemas[name] != nil else {
                    return hidden + [DoctorFinding(link, "leads to \(file.path), which does not exist", removal)]
                }
                return hidden
            } catch {
                guard case .damaged = error.problem else { return [DoctorFinding(link, "\(error)", removal)] }
                // The user fixes the file in an editor. Its former values help.
                return [DoctorFinding(link, "\(error)", doctor.command(["history", name.text]))]
            }
        }
    }

    /// Returns the command that replaces a damaged file by its version. To restore a whole folder would also revert its
    /// other files, so that of a folder is rewritten.
    private static func remedy(
        _ version: KeptVersion, _ domain: CheckedDomain, _ doctor: DoctorContext
    ) -> DoctorFinding.Remedy {
        guard domain.file.place(on: doctor.system) == domain.file.folder else {
            return doctor.command("restore", domain, [version.sequence.description])
        }
        return doctor.command("convert", domain, ["folder"])
    }

    private static func finding(
        _ error: StoreFailure, _ domain: CheckedDomain, _ doctor: DoctorContext
    ) -> DoctorFinding? {
        if error.isDamage {
            if let version = error.goodVersion {
                return DoctorFinding(
                    error.description, "damaged; the version of \(version.time) can be restored",
                    doctor.command("restore", domain, [version.sequence.description]))
            }
            if let path = error.file.flatMap({ FilePath($0) }), let name = path.lastComponent,
                path.parent == domain.file.folder
            {
                return DoctorFinding(
                    error.description,
                    "damaged, and no version of it is kept; until it is fixed or set aside, the domain cannot be read",
                    .command(["mv", "-n"], on: path, path.parent.appending(name.appending(".damaged-0" as FileName))))
            }
            guard domain.file.isRecoverable(on: doctor.system) else {
                return DoctorFinding(
                    error.description, "damaged, and no version of it is kept",
                    .advice("fix the file, to which a link in the store leads"))
            }
            return DoctorFinding(
                error.description, "damaged, and no version of it is kept; deleting the domain sets the file aside",
                doctor.command("delete", domain))
        }
        return refused(error, domain)
    }

    /// Returns a failure of the system as a finding. Missing read permission is reported by the permissions check.
    private static func refused(_ failure: StoreFailure, _ domain: CheckedDomain) -> DoctorFinding? {
        let path = failure.file.flatMap { FilePath($0) } ?? domain.file.path
        // The check of pending transactions reports a record that cannot be used.
        let isOfRecord = path.parent == domain.file.transactions || path == domain.file.transactions
        if isOfRecord { return nil }
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

    private static func damagedVersions(of domain: CheckedDomain, _ doctor: DoctorContext) -> [DoctorFinding] {
        guard let history = History(of: domain.file, on: doctor.system) else { return [] }
        return history.versions.filter { history.state(of: $0) == nil }.compactMap { version in
            guard history.failure(of: version) == nil, let path = history.path(of: version) else { return nil }
            return DoctorFinding(
                path.description, "version \(version.sequence) of \(domain.name) is damaged",
                .command(["rm", "-f"], on: path))
        }
    }

    /// Damaged files that were set aside when a new file was written.
    static let leftovers = DoctorCheck(subject: "damaged files that were set aside") { doctor in
        guard doctor.user.arrangement == .own else { return [] }
        return (doctor.writtenFolders.prefix(2) + doctor.domainFolders).flatMap { folder in
            doctor.names(in: folder).filter(isLeftover).map { name in
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
    static let foreignFiles = DoctorCheck(subject: "other files in the folders of domains") { doctor in
        doctor.domainFolders.flatMap { folder in
            doctor.names(in: folder).filter { name in
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

extension DoctorCheck {
    /// The user's files and folders that others can read or write, or that another user owns.
    static let permissions = DoctorCheck(subject: "permissions and owners") { doctor in
        let files = doctor.files
        let owner = doctor.owner
        let ofDomains = Set(
            doctor.domains.filter(\.layer.isOfUser).flatMap { [$0.file.path, $0.file.folder].compactMap(\.self) })
        return paths(doctor).flatMap { path -> [DoctorFinding] in
            guard let status = try? files.status(of: path, followingLink: false) else { return [] }
            guard status.kind == .symbolicLink else { return complaints(path, status, owner, doctor) }
            if path.parent.components.contains(Array(".locks".utf8)[...]) {
                return [
                    DoctorFinding(
                        path.description, "is a symbolic link, so it cannot be locked",
                        .command(["rm", "-f"], on: path))
                ]
            }
            // Other links are not followed: their targets are not the store's concern.
            guard ofDomains.contains(path), let (target, status) = doctor.target(ofLink: path) else { return [] }
            guard status.owner == owner else {
                return [
                    DoctorFinding(
                        path.description, "leads to \(target), which belongs to another user (\(status.owner))",
                        .advice("replace the link if that is not meant"))
                ]
            }
            return complaints(target, status, owner, doctor)
        }
    }

    private static func paths(_ doctor: DoctorContext) -> [FilePath] {
        guard doctor.user.arrangement == .own else { return doctor.domains.map(\.file.path) }
        let mirrors = (try? MirrorPlaces(doctor.access.places, on: doctor.system))?.folder.parent
        var paths: [FilePath] = []
        for folder in [doctor.user.folder, doctor.user.history, mirrors].compactMap(\.self)
        where !paths.contains(folder) {
            collect(folder, depth: 4, doctor, into: &paths)
        }
        return paths
    }

    /// Collects a path and everything below it. Symbolic links are checked but not descended into.
    private static func collect(
        _ path: FilePath, depth: Int, _ doctor: DoctorContext, into paths: inout [FilePath]
    ) {
        // A folder that cannot be used is reported itself, not each file in it.
        guard let status = try? doctor.files.status(of: path, followingLink: false) else { return }
        // Versions of a file given by its path have that file's permissions, which are not the store's concern.
        if status.kind == .folder || path.parent.parent.lastComponent != ".paths" { paths.append(path) }
        guard status.kind == .folder, depth > 0, let names = try? doctor.files.names(in: path) else { return }
        let isDomain = doctor.domainFolders.contains(path)
        for name in names {
            // The files of others in a domain's folder are not the store's concern, nor are the targets of links in it.
            if isDomain {
                let found = try? doctor.files.status(of: path.appending(name), followingLink: false)
                guard MemberName(name) != nil, found?.kind == .file else { continue }
            }
            collect(path.appending(name), depth: depth - 1, doctor, into: &paths)
        }
    }

    private static func complaints(
        _ path: FilePath, _ status: FileStatus, _ owner: UInt32, _ doctor: DoctorContext
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
            let who = owner == doctor.system.environment.user ? "you" : "its owner"
            findings.append(
                DoctorFinding(
                    path.description, "\(who) cannot \(status.kind == .folder ? "use" : "read and write") it",
                    .command(["chmod", status.kind == .folder ? "u+rwx" : "u+rw"], on: path)))
        }
        return findings
    }
}

extension DoctorCheck {
    /// Folders that the store must write to but cannot.
    static let folders = DoctorCheck(subject: "folders that cannot be written") { doctor in
        guard !doctor.user.file(of: StorePolicy.domain).isReadOnly else { return [] }
        var seen: Set<FilePath> = []
        var findings: [DoctorFinding] = []
        for folder in [doctor.user.history] + doctor.writtenFolders {
            guard let place = try existing(folder, doctor.files), seen.insert(place).inserted else { continue }
            if let finding = finding(place, doctor) { findings.append(finding) }
        }
        return findings
    }

    /// Returns the folder or its nearest existing ancestor.
    private static func existing(_ folder: FilePath, _ files: any FileSystem) throws -> FilePath? {
        var folder = folder
        while true {
            // A folder that cannot be inspected is inside one that cannot be used.
            if let status = try? files.status(of: folder), status.kind == .folder { return folder }
            guard folder.parent != folder else { return nil }
            folder = folder.parent
        }
    }

    private static func finding(_ folder: FilePath, _ doctor: DoctorContext) -> DoctorFinding? {
        // Root can write anywhere, and must not create even a temporary file in another user's folder.
        let owner = (try? doctor.files.status(of: folder))?.owner
        if doctor.system.environment.user == 0, owner != 0 { return nil }
        do throws(SystemFailure) {
            try probe(folder, doctor.files)
            return nil
        } catch {
            let problem = "not writable: \(error.code)"
            return DoctorFinding(folder.description, problem, remedy(error.code, folder, doctor))
        }
    }

    /// Writes and removes a small file.
    private static func probe(_ folder: FilePath, _ files: any FileSystem) throws(SystemFailure) {
        let (path, file) = try files.makeTemporary(beside: folder.appending("settings"))
        let written = Result { () throws(SystemFailure) in
            try file.write([UInt8](repeating: 0, count: 4096), at: 0)
        }
        try files.remove(path)
        try written.get()
    }

    private static func remedy(_ code: ErrorCode, _ folder: FilePath, _ doctor: DoctorContext) -> DoctorFinding.Remedy {
        switch code {
        case .accessDenied, .notPermitted:
            let owner = (try? doctor.files.status(of: folder))?.owner
            let user = doctor.system.environment.user
            return owner == user
                ? .command(["chmod", "u+rwx"], on: folder)
                : .command(["sudo", "chown", user.description], on: folder)
        case .noSpace, .overQuota: return .advice("free space on its file system: df -h \(folder)")
        case .readOnly: return .advice("its file system is mounted read-only: findmnt -T \(folder)")
        default: return .advice("inspect it: ls -ld \(folder)")
        }
    }
}
