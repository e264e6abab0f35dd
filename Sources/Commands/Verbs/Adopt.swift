internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let adopt = Verb(
        "adopt", .new, "use the file of another program as a domain",
        details: [
            "The file stays where the program expects it, and the store gets a symbolic link to it. By the name of the domain, every verb reads and changes the file, with the history that it has by its path.",
            "PROGRAM is the name of a schema with the attribute File, such as those of the programs that --list prints. FILE has the path of a file, or its name if that is not a program's.",
            "Such a domain has one layer, itself. A schema that names its file describes and checks its values, and adds none. The domain is never removed or converted.",
        ],
        options: [
            .adoptedName, .adoptAll, .removeAdopted, .listAdopted,
            .format([.lines, .json], "with --list: one line each, or JSON"),
        ],
        forms: [[.fileOrProgram], []], statuses: [.invalidValue] + MirrorVerbs.outcomes, scope: .allHosts
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let word = invocation[operand: Operand.fileOrProgram.name]
        let isListed = invocation.has(.listAdopted)
        let words = [word, invocation[.removeAdopted]].compactMap(\.self)
        guard words.count + (isListed || invocation.has(.adoptAll) ? 1 : 0) == 1 else {
            throw CommandFailure(.usage, "adopt: exactly one of FILE, PROGRAM, --all, --remove and --list is required")
        }
        guard word != nil || invocation[.adoptedName] == nil else {
            throw CommandFailure(.usage, "adopt: --as is for FILE and PROGRAM")
        }
        guard isListed || invocation.format == nil else {
            throw CommandFailure(.usage, "adopt: --format is for --list")
        }
        if let word {
            try access.adoption(word, as: invocation[.adoptedName]).carryOut()
        } else if isListed {
            try access.listAdopted(invocation.format, missing: invocation.has(.adoptAll))
        } else if invocation.has(.adoptAll) {
            return try access.adoptAll(access.places.user.arrangement == .own ? MirrorAccess(invocation, context) : nil)
        } else if let word = invocation[.removeAdopted] {
            let name = try DomainName(word: word)
            // A link that cannot be followed can be removed too.
            guard try access.places.user.adoptedDomains(on: access.system).contains(name) else {
                throw CommandFailure(.notFound, "\(name.text.onOneLine): not the file of a program")
            }
            try access.places.user.removeAdopted(name, on: access.system)
        }
        return .done
    }
}

extension Option {
    fileprivate static let adoptedName = Option(
        "--as", Argument("DOMAIN", .word),
        "the name of the domain, by default that of the program, or the file's without its extension")
    fileprivate static let adoptAll = Option(
        "--all",
        "adopt the files of all known programs, and create and mirror those that a mirror has; with --list, also print those that do not exist"
    )
    fileprivate static let removeAdopted = Option(
        "--remove", Argument("DOMAIN", .domain), "remove the domain from the store; the file stays")
    fileprivate static let listAdopted = Option(
        "--list", "print the domains that are files of programs, and the files of known programs")
}

extension Operand {
    fileprivate static let fileOrProgram = Operand("FILE|PROGRAM", .file)
}

// MARK: Known programs

/// A domain that is a program's file, or could be.
private struct ProgramRow {
    let domain: DomainName
    let file: FilePath
    let title: String?
    let state: State

    enum State: String {
        /// The file is a domain.
        case adopted
        /// The file exists.
        case found
        case missing
    }
}

extension StoreAccess {
    /// Returns the domains that are programs' files, followed by the other known programs.
    private func programRows() throws -> [ProgramRow] {
        let catalogue = schemas.places
        var rows: [ProgramRow] = []
        for name in try places.user.adoptedDomains(on: system) {
            do throws(StoreFailure) {
                guard let file = try places.adoptedFile(of: name) else { continue }
                let title = schemas[name]?.readable?.title
                rows.append(ProgramRow(domain: name, file: file.path, title: title, state: .adopted))
            } catch {
                context.note("\(error)".onOneLine)
            }
        }
        let adopted = Set(rows.compactMap { try? system.fileSystem.status(of: $0.file)?.number })
        let others = catalogue.programs(on: system).compactMap { name -> ProgramRow? in
            guard let (schema, files) = catalogue.program(name, on: system), let first = files.first,
                !rows.contains(where: { $0.file.isSameFile(as: first, on: system) })
            else { return nil }
            let present = files.first { isPresent($0) }
            if let number = present.flatMap({ try? system.fileSystem.status(of: $0)?.number }),
                adopted.contains(number)
            {
                return nil
            }
            return ProgramRow(
                domain: name, file: present ?? first, title: schema.title, state: present == nil ? .missing : .found)
        }
        return rows + others.filter { $0.state == .found } + others.filter { $0.state == .missing }
    }

    private func isPresent(_ file: FilePath) -> Bool { (try? system.fileSystem.status(of: file))??.kind == .file }

    fileprivate func listAdopted(_ format: FormatName?, missing: Bool) throws {
        let rows = try programRows().filter { missing || $0.state != .missing }
        guard format == .json else {
            for row in rows {
                let fields = [row.domain.text, row.state.rawValue, row.file.description]
                try context.say(fields.map(LineText.escaped).joined(separator: "\t"))
            }
            return
        }
        let list = rows.map { row in
            var entries: PropertyList.Dictionary = [
                "domain": .string(row.domain.text), "file": .string(row.file.description),
                "state": .string(row.state.rawValue),
            ]
            entries["title"] = row.title.map { .string($0) }
            return PropertyList.dictionary(entries)
        }
        try context.print(json: Rendering(.json).bytes(of: .array(list)))
    }

    /// Adopts the files of all known programs that are here or in a mirror. A file that cannot be adopted is reported.
    fileprivate func adoptAll(_ mirrors: MirrorAccess?) throws -> ExitStatus {
        var status = ExitStatus.done
        func report(_ error: any Error) {
            let (failure, lines) = Prefs.explanation(of: error)
            for line in lines { context.note(line) }
            if status == .done { status = failure }
        }
        func adopt(_ row: ProgramRow, isCreated: Bool) -> Bool {
            do {
                try Adoption(row.file.description, at: row.file, as: row.domain, of: row.domain, self)
                    .carryOut(isCreated: isCreated)
                return true
            } catch {
                report(error)
                return false
            }
        }
        let rows = try programRows()
        for row in rows where row.state == .found { _ = adopt(row, isCreated: false) }
        guard let mirrors else { return status }
        let missing = rows.filter { !isPresent($0.file) && !$0.file.isOfSystem(on: system) }
        do {
            let outcome = try MirrorVerbs.addPrograms(missing.map(\.domain), mirrors) { name in
                missing.first { $0.domain == name }.map { adopt($0, isCreated: true) } ?? false
            }
            return status == .done ? outcome : status
        } catch {
            report(error)
        }
        return status
    }

    /// Returns the adoption of the file that a word names, or of the program with that name.
    fileprivate func adoption(_ word: String, as name: String?) throws -> Adoption {
        let catalogue = schemas.places
        if !DomainArgument.isPath(word), let program = try? DomainName(word),
            let files = catalogue.program(program, on: system)?.files
        {
            // The file can be created later, as by a mirror.
            let file = files.first(where: isPresent) ?? files[0]
            return try Adoption(
                file.description, at: file, as: name.map { try DomainName($0) } ?? program, of: program, self)
        }
        // The name of the link that a program follows is kept, and everything before it resolved.
        let named = try context.absolutePath(word)
        let folder = try? named.parent.resolvingLinks(in: system.fileSystem)
        let path = named.lastComponent.flatMap { folder?.appending($0) } ?? named
        let program = catalogue.programs(on: system).first { program in
            catalogue.program(program, on: system)?.files.contains { path.isSameFile(as: $0, on: system) } ?? false
        }
        let file = path.lastComponent?.description ?? ""
        let stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
        guard let name = name ?? program?.text ?? (stem.isEmpty ? nil : stem) else {
            throw CommandFailure(.usage, "\(word.onOneLine): --as DOMAIN is required")
        }
        return try Adoption(word, at: path, as: DomainName(name), of: program, self)
    }
}

/// A program's file that becomes a domain.
private struct Adoption {
    private let word: String
    private let path: FilePath
    private let name: DomainName
    private let program: DomainName?
    private let access: StoreAccess

    /// - Parameter program: The name under which the catalogue has the program, or nil if it is not in it.
    init(
        _ word: String, at path: FilePath, as name: DomainName, of program: DomainName?, _ access: StoreAccess
    ) {
        (self.word, self.path, self.name) = (word.onOneLine, path, name)
        (self.program, self.access) = (program, access)
    }

    /// - Parameter isCreated: Whether the file will be created, if it does not exist.
    func carryOut(isCreated: Bool = false) throws {
        let (store, system) = (access.places.user, access.system)
        try check(store, system)
        let former = try access.places.adoptedFile(of: name)
        if let former {
            guard former.path.isSameFile(as: path, on: system) else {
                throw refusal("the domain \(name) is another file, \(former.path)")
            }
        } else {
            // Values that others set for the domain, and what a schema declares, would have no effect.
            guard try !access.namesInAllLayers().contains(name) else {
                throw refusal("the domain \(name) exists; another name is required (--as)")
            }
            guard name == program || access.schemas.places.schema(of: name, on: access.system) == nil else {
                throw refusal("the domain \(name) has a schema; another name is required (--as)")
            }
            try checkOther(store, system)
        }
        let file = store.file(at: path, name: name.text, newFormat: .ofNewFile(ofProgramAt: path.description))
        let contents = try file.contents(on: system)
        guard contents.exists else {
            if former == nil { try store.adopt(path, as: name, of: program, on: system) }
            guard !isCreated else { return }
            let creator = file.path.isOfSystem(on: system) ? "" : ", or `prefs mirror add \(name)`"
            return try access.context.say(
                "\(name): adopted; \(path) does not exist yet; the program creates it\(creator)".onOneLine)
        }
        guard contents.rootKind == .dictionary else {
            throw CommandFailure(.invalidValue, "\(word): a domain must be a dictionary")
        }
        if former == nil { try store.adopt(path, as: name, of: program, on: system) }
        let comments = file.hasComments(on: system) ? " with comments" : ""
        let format = (contents.format ?? file.newFormat).rawValue
        try access.context.say(
            "\(name): \(path) (\(format)\(comments), \(counted(contents.values.count, "key")))".onOneLine)
    }

    private func check(_ store: StoreFolder, _ system: SystemServices) throws {
        guard store.canAdopt(name) else { throw refusal("the domain \(name) cannot be a file") }
        if let status = try system.fileSystem.status(of: path) {
            guard status.kind == .file else { throw refusal("not a regular file") }
            guard status.owner == system.environment.user else { throw refusal("belongs to another user") }
        } else if try system.fileSystem.status(of: path, followingLink: false) != nil {
            throw CommandFailure(.notFound, "\(word): a link to a file that does not exist")
        } else if program == nil {
            let programs = access.schemas.places.programs(on: system).map(\.text)
            let nearest = Suggestion.hint(word, among: programs)
            let hint =
                DomainArgument.isPath(word)
                ? "" : ", and no known program\(nearest.isEmpty ? " (prefs adopt --list --all)" : nearest)"
            throw CommandFailure(.notFound, "\(word): no such file\(hint)")
        } else if system.environment.user != 0, path.isOfSystem(on: system) {
            // Any other program may not have been started yet.
            throw refusal("belongs to the system")
        }
        let target = try path.followingLinks(in: system.fileSystem)
        let isOfStore =
            try store.ownFile(at: target, name: "", in: system.fileSystem) != nil
            || store.ownMember(at: target, in: system.fileSystem) != nil
        guard !isOfStore else { throw refusal("is in the store, as a domain of its own") }
    }

    /// Throws if the file is another domain already.
    private func checkOther(_ store: StoreFolder, _ system: SystemServices) throws {
        for other in try store.adoptedDomains(on: system) {
            guard let file = try access.places.adoptedFile(of: other), file.path.isSameFile(as: path, on: system)
            else { continue }
            throw refusal("is the domain \(other)")
        }
    }

    private func refusal(_ reason: String) -> CommandFailure {
        CommandFailure(.usage, "\(word): \(reason)".onOneLine)
    }
}
