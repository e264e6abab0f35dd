internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let adopt = Verb(
        "adopt", .new, "use the file of another program as a domain",
        details: [
            "The file stays where the program expects it, and the store gets a symbolic link to it. By the name of the domain, every verb reads and changes the file, with the history that it has by its path.",
            "Such a domain has one layer, itself, and no schema: its name must not be that of a domain in any layer, or of one with a schema. It is never removed or converted, and not mirrored.",
        ],
        options: [
            .adoptedName, .removeAdopted, .listAdopted,
            .format([.lines, .json], "with --list: one line each, or JSON"),
        ],
        forms: [[.file], []], statuses: [.notFound, .invalidValue, .damaged, .systemFailed], scope: .allHosts
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let file = invocation[operand: Operand.file.name]
        guard [file, invocation[.removeAdopted]].compactMap(\.self).count + (invocation.has(.listAdopted) ? 1 : 0) == 1
        else { throw CommandFailure(.usage, "adopt: exactly one of FILE, --remove and --list is required") }
        guard file != nil || invocation[.adoptedName] == nil else {
            throw CommandFailure(.usage, "adopt: --as is for FILE")
        }
        guard invocation.has(.listAdopted) || invocation.format == nil else {
            throw CommandFailure(.usage, "adopt: --format is for --list")
        }
        if let file {
            try Adoption(file, invocation[.adoptedName], access).carryOut()
        } else if let word = invocation[.removeAdopted] {
            let name = try DomainName(word: word)
            // A link that cannot be followed can be removed too.
            guard try access.places.user.adoptedDomains(on: access.system).contains(name) else {
                throw CommandFailure(.notFound, "\(name.text.onOneLine): not the file of a program")
            }
            try access.places.user.removeAdopted(name, on: access.system)
        } else {
            try access.listAdopted(invocation.format)
        }
        return .done
    }
}

extension Option {
    fileprivate static let adoptedName = Option(
        "--as", Argument("DOMAIN", .word), "the name of the domain, by default the file's without its extension")
    fileprivate static let removeAdopted = Option(
        "--remove", Argument("DOMAIN", .domain), "remove the domain from the store; the file stays")
    fileprivate static let listAdopted = Option("--list", "print the domains that are files of programs")
}

extension StoreAccess {
    fileprivate func listAdopted(_ format: FormatName?) throws {
        let rows = try places.user.adoptedDomains(on: system).compactMap { name -> (String, String)? in
            do throws(StoreFailure) {
                return try places.adoptedFile(of: name).map { (name.text, $0.path.description) }
            } catch {
                context.note("\(error)".onOneLine)
                return nil
            }
        }
        guard format == .json else {
            for row in rows { try context.say("\(LineText.escaped(row.0))\t\(LineText.escaped(row.1))") }
            return
        }
        let list = rows.map { PropertyList.dictionary(["domain": .string($0.0), "file": .string($0.1)]) }
        try context.print(json: Rendering(.json).bytes(of: .array(list)))
    }
}

/// A program's file that becomes a domain.
private struct Adoption {
    private let word: String
    private let path: FilePath
    private let name: DomainName
    private let access: StoreAccess

    init(_ word: String, _ name: String?, _ access: StoreAccess) throws {
        (self.word, self.access) = (word.onOneLine, access)
        // The name of the link that a program follows is kept, and everything before it resolved.
        let named = try access.context.absolutePath(word)
        let folder = try? named.parent.resolvingLinks(in: access.system.fileSystem)
        path = named.lastComponent.flatMap { folder?.appending($0) } ?? named
        let file = path.lastComponent?.description ?? ""
        let stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
        guard let name = name ?? (stem.isEmpty ? nil : stem) else {
            throw CommandFailure(.usage, "\(self.word): --as DOMAIN is required")
        }
        self.name = try DomainName(name)
    }

    func carryOut() throws {
        let (store, system) = (access.places.user, access.system)
        try check(store, system)
        let former = try access.places.adoptedFile(of: name)
        if let former {
            guard try system.fileSystem.status(of: former.path)?.number == system.fileSystem.status(of: path)?.number
            else { throw refusal("the domain \(name) is another file, \(former.path)") }
        } else {
            // Values that others set for the domain, and what a schema declares, would have no effect.
            guard try !access.namesInAllLayers().contains(name) else {
                throw refusal("the domain \(name) exists; another name is required (--as)")
            }
            guard access.schemas[name] == nil else {
                throw refusal("the domain \(name) has a schema; another name is required (--as)")
            }
            try checkOther(store, system)
        }
        let file = store.file(at: path, name: name.text, newFormat: .ofNewFile(named: word))
        let contents = try file.contents(on: system)
        guard contents.rootKind == .dictionary else {
            throw CommandFailure(.invalidValue, "\(word): a domain must be a dictionary")
        }
        if former == nil { try store.adopt(path, as: name, on: system) }
        let comments = file.hasComments(on: system) ? " with comments" : ""
        let format = (contents.format ?? file.newFormat).rawValue
        try access.context.say(
            "\(name): \(path) (\(format)\(comments), \(counted(contents.values.count, "key")))".onOneLine)
    }

    private func check(_ store: StoreFolder, _ system: SystemServices) throws {
        guard store.canAdopt(name) else { throw refusal("the domain \(name) cannot be a file") }
        guard let status = try system.fileSystem.status(of: path) else {
            throw CommandFailure(.notFound, "\(word): no such file")
        }
        guard status.kind == .file else { throw refusal("not a regular file") }
        guard status.owner == system.environment.user else { throw refusal("belongs to another user") }
        let target = try path.followingLinks(in: system.fileSystem)
        let isOfStore =
            try store.ownFile(at: target, name: "", in: system.fileSystem) != nil
            || store.ownMember(at: target, in: system.fileSystem) != nil
        guard !isOfStore else { throw refusal("is in the store, as a domain of its own") }
    }

    /// Throws if the file is another domain already.
    private func checkOther(_ store: StoreFolder, _ system: SystemServices) throws {
        let number = try system.fileSystem.status(of: path)?.number
        for other in try store.adoptedDomains(on: system) {
            guard let file = try access.places.adoptedFile(of: other),
                try system.fileSystem.status(of: file.path)?.number == number
            else { continue }
            throw refusal("is the domain \(other)")
        }
    }

    private func refusal(_ reason: String) -> CommandFailure {
        CommandFailure(.usage, "\(word): \(reason)".onOneLine)
    }
}
