internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

extension DoctorCheck {
    /// Whether the kernel reports changes, or the files must be polled.
    static let watching = DoctorCheck(subject: "watching") { doctor in
        let watch = doctor.system.watcher.watch(doctor.user.folder) { _ in }
        defer { watch.cancel() }
        guard case .polling(let reason) = watch.method else { return [] }
        let place = doctor.user.folder.description
        switch reason {
        case .remoteFileSystem:
            return [
                DoctorFinding(
                    place, "is on another machine: changes are noticed up to two seconds late",
                    .advice("set XDG_CONFIG_HOME to a folder on a local disk"))
            ]
        case .noWatches(let code):
            return [
                DoctorFinding(
                    place, "no watches are available (\(code)): changes are noticed up to two seconds late",
                    remedy(forNoWatches: code))
            ]
        }
    }

    private static func remedy(forNoWatches code: ErrorCode) -> DoctorFinding.Remedy {
        switch code {
        case .noSpace: .command(["sudo", "sysctl", "fs.inotify.max_user_watches=524288"])
        case .tooManyOpenFiles: .command(["sudo", "sysctl", "fs.inotify.max_user_instances=1024"])
        default: .advice("nothing to be done: no settings are at risk")
        }
    }

    /// Variables that are ignored because they contain a relative path.
    static let variables = DoctorCheck(subject: "variables") { doctor in
        let variables = doctor.system.environment.variables
        let single = [Variable.configHome, .stateHome, .dataHome].map(\.rawValue).compactMap { name -> DoctorFinding? in
            guard let value = variables[name], !value.isEmpty, !value.hasPrefix("/") else { return nil }
            return DoctorFinding(name, "ignored, since it is a relative path: \(value)", .command(["unset", name]))
        }
        let lists = [Variable.configFolders, .dataFolders].map(\.rawValue).compactMap { name -> DoctorFinding? in
            let folders = (variables.path(name)?.word ?? "").split(separator: ":").map(String.init)
            let relative = folders.filter { !$0.hasPrefix("/") }
            guard !relative.isEmpty else { return nil }
            let rest = folders.filter { $0.hasPrefix("/") }.joined(separator: ":")
            return DoctorFinding(
                name, "has relative paths, which are ignored: \(relative.joined(separator: ":"))",
                .command(rest.isEmpty ? ["unset", name] : ["export", "\(name)=\(rest)"]))
        }
        return single + lists
    }
}

extension DoctorCheck {
    /// Temporary files that killed writers have left.
    static let temporaries = DoctorCheck(subject: "stale temporary files") { doctor in
        let needed = Set(doctor.user.transactionStatuses(on: doctor.system).flatMap(\.temporaries))
        let now = doctor.system.clock.wall
        let histories = doctor.domains.filter(\.layer.isOfUser).compactMap(\.file.history)
        return (doctor.writtenFolders + doctor.domainFolders + histories).flatMap { folder in
            doctor.names(in: folder).filter(\.isTemporary).compactMap { name -> DoctorFinding? in
                let path = folder.appending(name)
                let found = try? doctor.files.status(of: path, followingLink: false)
                guard !needed.contains(path), let status = found ?? nil,
                    status.modified.advanced(by: oldAge) < now
                else {
                    return nil
                }
                return DoctorFinding(
                    path.description, "left by a killed writer", .command(["rm", "-f"], on: path))
            }
        }
    }

    /// The age from which a temporary file is considered stale. Running writers keep theirs only briefly.
    private static let oldAge = Duration.seconds(3600)

    /// Committed transactions that could not be completed.
    static let transactions = DoctorCheck(subject: "pending transactions") { doctor in
        try doctor.access.places.foldersByLayer().flatMap { layer, folder in
            folder.transactionStatuses(on: doctor.system).filter { !$0.isBusy }.map { transaction in
                finding(transaction, in: folder, layer, doctor)
            }
        }
    }

    private static func finding(
        _ transaction: TransactionStatus, in folder: StoreFolder, _ layer: Layer, _ doctor: DoctorContext
    ) -> DoctorFinding {
        let needsRights = !layer.isOfUser && doctor.system.environment.user != doctor.system.administrator
        let rights = needsRights ? ["sudo"] : []
        if transaction.belongsToAnotherUser, layer.isOfUser {
            return DoctorFinding(
                transaction.path.description, "another user's change of several files in this store is pending",
                .advice("only that user can complete it, with any command on one of the domains"))
        }
        let names = transaction.files.map(\.name).joined(separator: ", ")
        let subject = names.isEmpty ? "a change of several files" : "a committed change to \(names)"
        if let refusal = transaction.refusal {
            // Without the record, the files have their own contents, whatever those are.
            return DoctorFinding(
                transaction.path.description, "\(subject) cannot be read: \(refusal.reason)",
                transaction.path == folder.transactions
                    ? .advice("inspect it: ls -ld \(transaction.path)")
                    : doctor.removal(ofFolder: transaction.path, needsRights: needsRights)
                        ?? .command(rights + ["rm", "-f"], on: transaction.path))
        }
        let name = transaction.files.first.flatMap { folder.domain(ofOwn: $0) } ?? .global
        return DoctorFinding(
            transaction.path.description,
            "\(subject) could not be completed; it is in force, and the next reader tries again",
            .command(rights + doctor.spelling(of: name.text, in: layer).words([Verb.read.name])))
    }
}

extension DoctorCheck {
    /// Locks that a process does not release, so that writers give up. A member of a group can hold that of a file of
    /// the group.
    static let locks = DoctorCheck(subject: "locks that are not released") { doctor in
        let (system, clock) = (doctor.system, doctor.system.clock)
        let busy = doctor.domains.filter { $0.file.heldLock(on: system, until: clock.now) != nil }
        // A writer holds its locks only briefly.
        let deadline = clock.now.advanced(by: .seconds(2))
        var seen: Set<FilePath> = []
        return busy.compactMap { domain in
            guard let lock = domain.file.heldLock(on: system, until: deadline), seen.insert(lock.path).inserted else {
                return nil
            }
            let problem = "locked\(lock.holder.map { " by \($0)" } ?? ""), so that \(domain.name) cannot be written"
            let remedy = lock.holder.map { "end that process if it does not end by itself: kill \($0.process)" }
            return DoctorFinding(
                lock.path.description, problem, .advice(remedy ?? "find the process: fuser -v \(lock.path)"))
        }
    }
}

extension DoctorCheck {
    /// Held domains, open conflicts, and mirrors whose settings are damaged, or whose directory is missing or that of
    /// another mirror. A mirror's state is read but not loaded, since loading may repair and change it.
    static let mirrors = DoctorCheck(subject: "directories, held domains and conflicts of mirrors") { doctor in
        guard doctor.user.arrangement == .own,
            let places = try? MirrorPlaces(doctor.access.places, on: doctor.system)
        else { return [] }
        let (joined, failures) = places.listing
        let damaged = failures.compactMap { failure -> DoctorFinding? in
            let advice = "prefs mirror join DIR writes it again, and prefs mirror add selects the domains"
            // Missing read permission is reported by the permissions check.
            switch failure.problem {
            case .damaged(let file):
                return DoctorFinding(file, "damaged, so the store is not mirrored", .advice(advice))
            case .missing(let file):
                return DoctorFinding(file, "missing, so the store is not mirrored", .advice(advice))
            default: return nil
            }
        }
        let status = doctor.command(["mirror", "status"])
        let held = joined.flatMap { places.held(in: $0.id) }.map { domain, reason in
            DoctorFinding(domain, "held by the mirror: \(reason.phrase)", status)
        }
        let open = joined.flatMap { joined in conflicts(places.conflicts(in: joined).map(\.conflict), doctor) }
        let earlier = joined.filter { places.isOfEarlierFormat($0.id) }.map { joined in
            DoctorFinding(
                joined.configuration.directory.description, "the mirror is of an earlier format, which is not read",
                status)
        }
        return damaged + held + open + earlier
            + joined.compactMap { joined in
                let directory = SharedDirectory(joined.configuration.directory, in: doctor.files)
                guard let obstacle = directory.obstacle(to: joined.id, isChosen: joined.configuration.isChosen) else {
                    return nil
                }
                let problem =
                    switch obstacle {
                    case .noDirectory, .noMarker, .noWriters: "contains no mirror: mount it, or wait until it is synced"
                    case .unreadable(let code): "cannot be read: \(code)"
                    case .linkedWriters: "its folder w is a symbolic link, which is not followed"
                    case .otherMirror: "contains another mirror"
                    case .earlierFormat: "contains a mirror of an earlier format, which is not read"
                    case .severalMirrors: "contains several mirrors"
                    }
                return DoctorFinding(directory.path.description, problem, status)
            }
    }

    /// Returns a finding for each domain with open conflicts, and for each key about which hosts never agree.
    private static func conflicts(_ open: [Conflict], _ doctor: DoctorContext) -> [DoctorFinding] {
        let domains = Dictionary(grouping: open) { Name($0.place.domain) }.sorted { $0.key < $1.key }
        return domains.flatMap { domain, open in
            let endless = Set(open.filter(\.isOfOlder).map(\.place)).sorted().map { place in
                DoctorFinding(
                    place.place, "written again and again by several hosts",
                    .advice("declare Mirrored = NO for the key in the schema of the domain"))
            }
            let list = doctor.command(["mirror", "conflicts", domain.text])
            let entries = abridged(Set(open.map(\.place)).sorted().map(\.entry.description))
            let problem = "\(counted(open.count, "open conflict")) of a mirror at \(entries)"
            return [DoctorFinding(domain.text, problem, list)] + endless
        }
    }
}
