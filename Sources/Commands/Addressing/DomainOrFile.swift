internal import Platform
internal import Preferences
internal import PropertyLists

// A word without a slash names a domain, although the working folder may have a file of that name. A domain that is
// read or changed while the user means the file would be a silent error, so the command says which of both it uses.

extension StoreAccess {
    /// Returns the domain or file that an operand names. If the operand is the name of a domain and of a file, and has
    /// the extension of a property list, a note says that the domain is used.
    func named(_ word: String) throws -> AddressedDomain {
        let domain = try domain(word)
        if FileExtension(fileName: word) != nil, context.dialect == .modern, try exists(domain) {
            noteFile(besides: domain)
        }
        return domain
    }

    /// Throws if a file that is named by its path is given a layer or a host, which it does not have.
    func checkLayer(of domain: AddressedDomain, _ invocation: Invocation) throws {
        guard domain.name == nil, context.dialect == .modern, invocation[.target] == nil,
            let option = [Option.layer, .host, .currentHost].first(where: invocation.has)
        else { return }
        throw CommandFailure(.usage, "\(domain.word.onOneLine): a file has no layers; omit \(option.longName)")
    }

    private func noteFile(besides domain: AddressedDomain) {
        guard let name = domain.name, context.hasFile(named: domain.word) else { return }
        context.note("the domain \(name) is used, not the file ./\(name)".onOneLine)
    }

    /// Whether a name is that of a known program whose file is not a domain, in a layer that could have it.
    func isUnadoptedProgram(_ name: DomainName) -> Bool {
        layer == .user && places.user.canAdopt(name) && !adoptedDomains.contains(name)
            && schemas.places.program(name, on: system) != nil
    }

    /// Throws if a change would create a domain that is named like a pattern, or like a property list in the working
    /// folder. The user probably means several domains, or the file, whose path has a slash. A new domain that is named
    /// like a program's file is noted.
    func checkNewDomain(_ domain: AddressedDomain, _ invocation: Invocation) throws {
        guard let name = domain.name, context.dialect == .modern, !invocation.has(.newDomain) else { return }
        let word = domain.word.onOneLine
        if DomainArgument.isPattern(name.text), try !exists(domain) {
            throw CommandFailure(
                .usage,
                "no domain \(word), and the name of a domain is not a pattern (\(Option.newDomain.name) creates the domain)"
            )
        }
        if FileExtension(fileName: name.text) != nil, context.hasFile(named: name.text), try !exists(domain) {
            throw CommandFailure(
                .usage, "no domain \(word); did you mean ./\(word)? (\(Option.newDomain.name) creates the domain)")
        }
        if let named = FileExtension(fileName: name.text), named != .plist, try !exists(domain) {
            context.note("\(word): a new domain of the store; for a file, write ./\(word)")
        }
        // The catalogue's names, and most names that people give to programs' files, have no dot.
        guard layer == .user, !name.text.contains("."), !domain.file.isAdopted, try !exists(domain) else { return }
        if isUnadoptedProgram(name) {
            context.note(
                "\(word): a new domain of the store, not the file of this program (prefs adopt \(word))".onOneLine)
        } else {
            let hint = Suggestion.hint(name.text, among: adoptedDomains.map(\.text))
            if !hint.isEmpty { context.note("\(word): a new domain of the store\(hint)".onOneLine) }
        }
    }

    /// Returns the domain that a word without a slash names, or nil if only a file has this name. If both exist, a note
    /// says that the domain is used.
    ///
    /// - Parameters:
    ///   - isForced: Whether the word is a domain in any case.
    ///   - exists: Whether a domain exists for the verb.
    func domainRatherThanFile(
        _ word: String, isForced: Bool, exists: (AddressedDomain) throws -> Bool
    ) throws -> AddressedDomain? {
        if isForced { return try domain(DomainName(word: word)) }
        if DomainArgument.isGlobalFlag(word) { return try domain(word) }
        guard let name = try? DomainName(word: word) else { return try hasFile(word) ? nil : domain(word) }
        let domain = try domain(name)
        if try exists(domain) {
            noteFile(besides: domain)
            return domain
        }
        return try hasFile(word) ? nil : domain
    }

    /// Whether there is a file, with or without `.plist`, that can be read.
    private func hasFile(_ word: String) throws -> Bool {
        guard !word.isEmpty, let path = try? context.absolutePath("./" + word) else { return false }
        let longer = FilePath(path.bytes + Array(".plist".utf8))
        return try [path, longer].compactMap(\.self).contains { path in
            let kind = try system.fileSystem.status(of: path)?.kind
            return kind != nil && kind != .folder
        }
    }
}

extension Option {
    package static let newDomain = Option(
        "--new-domain", "create a domain although its name is a pattern or that of a file")
    /// The option of verbs whose operand is a domain or a file.
    package static let asDomain = Option(
        "--domain", Argument("NAME", .domain), "a domain in place of the first operand, even if a file has its name")
}
