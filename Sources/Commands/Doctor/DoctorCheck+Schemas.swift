internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension DoctorCheck {
    /// Folders of schemas that cannot be listed, and installed schemas that are ignored because they cannot be read or
    /// contain errors.
    static let schemas = DoctorCheck(subject: "schemas that cannot be read, or with errors") { doctor in
        let places = doctor.access.schemas.places
        let closed = places.closedFolders(on: doctor.system).map { folder, failure in
            DoctorFinding(
                folder.description, "the schemas in this folder cannot be read: \(failure.code)",
                .advice("restore access to it; until then, values that they may declare as sensitive are masked"))
        }
        return closed
            + places.domains(on: doctor.system).flatMap { name -> [DoctorFinding] in
                guard let found = places.schema(of: name, on: doctor.system, checks: true), !found.faults.isEmpty else {
                    return []
                }
                if found.readable == nil, let doubt = found.doubt {
                    return [
                        DoctorFinding(
                            found.place, "cannot be read, so all values of \(name) are masked: \(doubt.reason)",
                            found.file.flatMap {
                                doctor.removal(ofFolder: $0, needsRights: places.folders.first != $0.parent)
                            } ?? .advice("make it readable, or install the schema of \(name) again"))
                    ]
                }
                let others = found.faults.count > 1 ? " (and \(found.faults.count - 1) more)" : ""
                let check = ShellWord.line(["prefs", "schema", "check", found.place])
                var remedy = DoctorFinding.Remedy.advice("\(check) lists all errors")
                // A check of the file alone finds no error if only its name is wrong.
                if others.isEmpty, let file = found.file,
                    let other = found.readable.flatMap({ try? DomainName($0.domain) }),
                    other != name
                {
                    let rights = places.folders.first == file.parent ? [] : ["sudo"]
                    remedy = .command(rights + ["mv", "-n"], on: file, SchemaPlaces.file(of: other, in: file.parent))
                }
                let masked = found.doubt == nil ? "" : ", and all values of \(name) are masked"
                return [
                    DoctorFinding(found.place, "the schema is ignored\(masked): \(found.faults[0])\(others)", remedy)
                ]
            }
    }

    /// Files of remembered sensitive settings that cannot be read.
    static let memories = DoctorCheck(subject: "remembered sensitive settings that cannot be read") { doctor in
        guard let folder = doctor.user.folderOfSecrets else { return [] }
        return doctor.names(in: folder).compactMap { file -> DoctorFinding? in
            guard let stem = file.propertyListStem, let name = try? DomainName(stem) else { return nil }
            do throws(SecrecyDoubt) {
                _ = try doctor.access.schemas.remembered(of: name)?.read()
                return nil
            } catch {
                return DoctorFinding(
                    error.file.description, "all values of \(name) are masked: \(error.reason)",
                    doctor.removal(ofFolder: error.file)
                        ?? .advice("if it cannot be restored, remove it, and install the schema of \(name) again"))
            }
        }
    }

    /// Stored settings whose version differs from their schema's.
    static let versions = DoctorCheck(subject: "settings whose version differs from their schema's") { doctor in
        doctor.stored.compactMap { domain, schema, contents in
            let version = schema.storedVersion(of: contents.values)
            guard domain.layer.isOfUser, version != schema.version else { return nil }
            let place = domain.file.place(on: doctor.system).description
            guard version < schema.version else {
                return DoctorFinding(
                    place,
                    "has settings of version \(version), but the schema supports versions up to \(schema.version) only",
                    .advice("install the schema that came with the newer program"))
            }
            return DoctorFinding(
                place, "has settings of version \(version), but the schema has version \(schema.version)",
                .command(doctor.spelling(of: domain.name.text).words(Verb.wordsOfMigration)))
        }
    }

    /// Values that are ignored because they break their rules.
    static let values = DoctorCheck(subject: "values that a schema does not allow") { doctor in
        doctor.current.flatMap { domain, schema, contents in
            let layer = LayerSource(domain.layer, domain.file, contents, on: doctor.system)
            let settings =
                schema.settings.filter { $0.storedAt == nil } + schema.ownSettings.map(\.underStoredKey)
            return settings.sorted { $0.key.isBefore($1.key) }.compactMap { setting -> DoctorFinding? in
                // Exposure of the user's files is reported by the permissions check.
                if domain.layer.isOfUser, layer.isExposed, setting.hasSecrets { return nil }
                guard let reason = layer.answers(to: setting.key, setting).first?.fault,
                    let path = setting.storedPaths.first(where: { contents.values.value(at: $0) != nil })
                else {
                    return nil
                }
                let key = setting.storedAt == nil ? path.components[0].text : path.description
                let outcome = domain.layer == .forced ? "programs do not start with it" : "ignored"
                return DoctorFinding(
                    "\(domain.name) \(key)", "\(outcome) in layer \(domain.layer): \(reason)",
                    doctor.removal(of: setting.key, in: domain))
            }
        }
    }

    /// Keys that their schema does not declare.
    static let unknownKeys = DoctorCheck(subject: "keys that a schema does not declare") { doctor in
        doctor.current.flatMap { domain, schema, contents in
            let all = schema.storedSettings
            let unclaimed = schema.unclaimedKeys(in: contents.values)
            let known = Set(all.flatMap(\.allKeys).map { EntryPath.Component($0) })
            let unknown = contents.values.withoutHidden.keys.filter { !known.contains(EntryPath.Component($0)) }
            return unknown.sorted { $0.isBefore($1) }.map { key in
                let nearest = all.map(\.key).nearest(to: key)
                let place = "\(domain.name) \(key)"
                if unclaimed.contains(exactly: key) {
                    let owners = schema.commands(owning: key)
                    let commands = Verb.commandsOfMigration(doctor.spelling(of: domain.name.text), to: owners)
                    return DoctorFinding(
                        place, "ignored, since each command with this key stores a value of its own",
                        .advice("to move it there: \(commands)"))
                }
                guard let nearest, contents.values[nearest] == nil else {
                    return DoctorFinding(
                        place, "not declared in the schema: declare it, or delete it if no program uses it",
                        doctor.removal(of: key, in: domain))
                }
                return DoctorFinding(
                    place, "not declared in the schema; did you mean \(nearest)?",
                    doctor.command("rename", domain, [key, nearest], options: []))
            }
        }
    }
}

extension DoctorContext {
    /// A line for each setting that remains masked although no installed schema declares it as sensitive.
    var rememberedSecrets: [String] {
        Set(domains.filter(\.layer.isOfUser).map(\.name)).sorted().flatMap { name -> [String] in
            guard let known = try? access.schemas.remembered(of: name)?.read() else { return [] }
            let installed = access.schemas[name]?.readable
            let forgotten = known.settings.filter { setting in
                !(installed?.settings(named: setting.key).contains(where: \.hasSecrets) ?? false)
            }
            return forgotten.map {
                "\(name) \($0.key): masked, since an earlier schema declared it as sensitive".onOneLine
            }
        }
    }

    /// The readable domains that have a schema, with their contents.
    fileprivate var stored: [(domain: CheckedDomain, schema: Schema, contents: DomainContents)] {
        domains.compactMap { domain in
            guard let schema = access.schemas[domain.name]?.schema,
                let contents = try? domain.file.contents(on: system), contents.exists
            else { return nil }
            return (domain, schema, contents)
        }
    }

    /// The domains whose settings have the schema's version. The schema does not apply to others.
    fileprivate var current: [(domain: CheckedDomain, schema: Schema, contents: DomainContents)] {
        stored.filter {
            !$0.domain.layer.isOfUser || $0.schema.storedVersion(of: $0.contents.values) == $0.schema.version
        }
    }
}

extension DoctorCheck {
    /// Files in the forced layer that are ignored because users other than the administrator could have written them.
    static let forcedFiles = DoctorCheck(subject: "forced files that are ignored") { doctor in
        guard let folder = doctor.access.places.forced?.folder else { return [] }
        let paths = doctor.domains.filter { $0.layer == .forced }.flatMap { doctor.paths(of: $0.file) }
        return ((paths.isEmpty ? [] : [folder]) + paths).flatMap { path in
            (try? doctor.files.status(of: path)).map {
                reasons(path, $0, doctor.system.administrator)
            } ?? []
        }
    }

    /// Files and folders in the administrator's layers that not everyone can read: forced values then cause an error
    /// for other users, and defaults do not reach them. A file with a sensitive value must not be opened; the value is
    /// to be removed.
    static let closedLayers = DoctorCheck(subject: "layers of the administrator that not everyone can read") {
        doctor in
        var seen: Set<FilePath> = []
        var findings: [DoctorFinding] = []
        func look(_ path: FilePath, _ needed: FilePermissions, _ mode: String) {
            guard seen.insert(path).inserted else { return }
            let status: FileStatus?
            do throws(SystemFailure) { status = try doctor.files.status(of: path) } catch { return }
            guard let status, !status.permissions.isSuperset(of: needed) else { return }
            findings.append(
                DoctorFinding(
                    path.description, "not everyone can read it", .command(["sudo", "chmod", mode], on: path)))
        }
        for folder in try doctor.access.places.allPlaces().filter(\.layer.isOfAdministrator).map(\.path) {
            // If the layer does not exist, its parent folders are not checked.
            if case .success(nil) = Result(catching: { try doctor.files.status(of: folder) }) { continue }
            var chain = [folder]
            while let last = chain.last, last.parent != last { chain.append(last.parent) }
            for path in chain.reversed() {
                look(path, FilePermissions(rawValue: path == folder ? 0o005 : 0o001), path == folder ? "a+rx" : "a+x")
            }
        }
        for domain in doctor.domains where domain.layer.isOfAdministrator {
            if let secret = secret(in: domain, doctor) {
                findings.append(
                    DoctorFinding(
                        "\(domain.name) \(secret)",
                        "is sensitive, but everyone can read the layer \(domain.layer) (\(domain.file.place(on: doctor.system)))",
                        doctor.removal(of: secret, in: domain)))
            } else {
                for path in doctor.paths(of: domain.file) {
                    let isFolder = path == domain.file.folder
                    look(path, FilePermissions(rawValue: isFolder ? 0o005 : 0o004), isFolder ? "a+rx" : "a+r")
                }
            }
        }
        return findings
    }

    /// Returns the first key of a domain whose value is sensitive.
    private static func secret(in domain: CheckedDomain, _ doctor: DoctorContext) -> String? {
        guard let values = try? domain.file.contents(on: doctor.system).values,
            let addressed = try? doctor.access.domain(domain.name, in: domain.layer)
        else { return nil }
        let masking = Masking(declaredBy: doctor.access.secrecy(addressed))
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
