internal import Platform
internal import Preferences

// The places of settings on macOS, as scripts for it name them.

extension StoreAccess {
    /// Returns the domain that a path in one of macOS's folders of preferences denotes, or nil for another path and
    /// for a regular file that exists there.
    ///
    ///     ~/Library/Preferences/X.plist                the domain X of the user
    ///     ~/Library/Preferences/ByHost/X.UUID.plist    the domain X for this host
    ///     /Library/Preferences/X.plist                 the domain X in layer site
    func libraryDomain(_ word: String) throws -> AddressedDomain? {
        let path = try context.absolutePath(word)
        guard let (name, layer) = try LibraryFolder.domain(at: path, in: context) else { return nil }
        guard places.folder(of: layer) != nil else { return nil }
        for bytes in [path.bytes, path.bytes + Array(".plist".utf8)] {
            guard let file = FilePath(bytes), try system.fileSystem.status(of: file)?.kind == .file else { continue }
            context.note("\(file): this file is used, not the domain \(name)".onOneLine)
            return nil
        }
        return try domain(name, in: layer)
    }

    /// Returns the domain `X` for the name `X.plist`, as on macOS, unless there is a domain of that name.
    func domain(withoutEndingOf word: String) throws -> AddressedDomain? {
        guard word.hasSuffix(".plist"), let name = try? DomainName(String(word.dropLast(".plist".count))) else {
            return nil
        }
        if let longer = try? DomainName(word), try domain(longer).file.status(on: system) != nil { return nil }
        return try domain(name)
    }
}

/// The folders of preferences of macOS.
enum LibraryFolder {
    /// The folder of the user, and the one for all users.
    static func all(in context: CommandContext) throws -> [(path: FilePath, layer: Layer)] {
        [
            (try context.environment.home(in: context.fileSystem).resolving(folder), .user),
            ("/Library/Preferences", .site),
        ]
    }

    private static let folder: FilePath = "Library/Preferences"

    /// Returns the domain and the layer of a path.
    static func domain(at path: FilePath, in context: CommandContext) throws -> (name: DomainName, layer: Layer)? {
        guard let file = path.lastComponent, var stem = String(validating: file.bytes, as: UTF8.self) else {
            return nil
        }
        if stem.hasSuffix(".plist") { stem = String(stem.dropLast(".plist".count)) }
        for (folder, layer) in try all(in: context) {
            switch path.components.dropLast() {
            case folder.components[...]: return name(stem).map { ($0, layer) }
            case (folder.components + [Array(StoreFolder.hostFolder.bytes)[...]])[...] where layer == .user:
                guard let dot = stem.lastIndex(of: ".") else { return nil }
                return name(String(stem[..<dot])).map { ($0, .userHost) }
            default: continue
            }
        }
        return nil
    }

    private static func name(_ stem: String) -> DomainName? {
        stem == ".GlobalPreferences" ? .global : try? DomainName(stem)
    }
}

extension DoctorCheck {
    /// Files in macOS's folders of preferences, which `defaults` uses instead of the domains that they are named after.
    static let libraryFiles = DoctorCheck(subject: "files in the preference folders of macOS") { doctor in
        let context = doctor.access.context
        return try LibraryFolder.all(in: context).flatMap { folder, layer -> [DoctorFinding] in
            guard doctor.access.places.folder(of: layer) != nil else { return [] }
            return try doctor.names(in: folder).compactMap { name in
                let path = folder.appending(name)
                guard name.bytes.suffix(6) == Array(".plist".utf8)[...],
                    try doctor.files.status(of: path)?.kind == .file,
                    let (domain, _) = try LibraryFolder.domain(at: path, in: context)
                else { return nil }
                let words = doctor.spelling(of: domain.text, in: layer).words(
                    [Verb.importing.name], [path.description])
                let move = ShellWord.line(words) + " && " + ShellWord.line(["rm", path.description])
                return DoctorFinding(
                    path.description, "defaults uses this file instead of the domain \(domain)",
                    .command((layer.isOfUser ? [] : ["sudo"]) + ["sh", "-c", move]))
            }
        }
    }
}

extension CommandContext {
    /// Returns the domain of the application with a name: that of an installed schema with this title or domain, or
    /// the one that a desktop entry with this name is called by. Ignores case.
    func domain(ofApplication name: String) -> String? {
        let wanted = name.lowercased()
        let schemas = SchemaPlaces(on: system)
        let domains = schemas.domains(on: system)
        if let domain = domains.first(where: { $0.text.lowercased() == wanted }) { return domain.text }
        let titled = domains.first { domain in
            schemas.schema(of: domain, on: system)?.readable?.title?.lowercased() == wanted
        }
        return titled?.text ?? desktopEntry(named: wanted)
    }

    private func desktopEntry(named wanted: String) -> String? {
        let own = try? environment.folder(.data, in: fileSystem)
        for folder in [own].compactMap(\.self) + environment.systemFolders(.data) {
            let folder = folder.resolving("applications")
            for file in (try? fileSystem.names(in: folder)) ?? [] {
                guard let text = String(validating: file.bytes, as: UTF8.self), text.hasSuffix(Self.entryEnding),
                    let bytes = try? fileSystem.contents(of: folder.appending(file), limit: 1 << 20),
                    Self.name(inEntry: bytes)?.lowercased() == wanted
                else { continue }
                return String(text.dropLast(Self.entryEnding.count))
            }
        }
        return nil
    }

    private static let entryEnding = ".desktop"

    /// Returns the untranslated name in the main group of a desktop entry.
    private static func name(inEntry bytes: [UInt8]) -> String? {
        var isInGroup = false
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "[") {
                isInGroup = line.starts(with: "[Desktop Entry]".utf8)
                continue
            }
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard isInGroup, parts.count == 2, trimmed(parts[0]) == "Name" else { continue }
            return trimmed(parts[1])
        }
        return nil
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let start = bytes.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }
}
