package import Platform
internal import PropertyLists

// A domain can be the file of another program, which stays where the program expects it. The store has a symbolic link
// to it, `DOMAIN.file`. The domain is the file as it is addressed by its path, with the same lock and versions.

/// The file of a program that is a domain.
struct AdoptedFile: Sendable {
    let path: FilePath
    /// The name under which the catalogue can have a schema of the file.
    let program: DomainName
}

extension FilePath {
    /// Whether the file is among the settings of the system, which are of this host.
    package func isOfSystem(on system: SystemServices) -> Bool {
        ((try? resolvingLinks(in: system.fileSystem)) ?? self).bytes.starts(with: "/etc/".utf8)
    }

    /// Whether another path leads to the same file, by whatever links.
    package func isSameFile(as other: FilePath, on system: SystemServices) -> Bool {
        if self == other { return true }
        let files = system.fileSystem
        if let number = (try? files.status(of: self))??.number {
            return (try? files.status(of: other))??.number == number
        }
        guard let target = try? resolvingLinks(in: files) else { return false }
        return (try? other.resolvingLinks(in: files)) == target
    }
}

extension StorePlaces {
    /// Returns the program's file that a domain is, or nil if the domain is the store's own.
    ///
    /// A domain with forced values is the store's own: a link must not turn off a policy.
    package func adoptedFile(of domain: DomainName) throws(StoreFailure) -> DomainFile? {
        guard let file = try user.adoptedFile(of: domain, on: system) else { return nil }
        return isForced(domain) ? nil : file
    }

    /// Whether the administrator has a file of forced values of the domain, or it is unknown.
    private func isForced(_ domain: DomainName) -> Bool {
        guard let path = folder(of: .forced)?.file(of: domain).path else { return false }
        do throws(SystemFailure) { return try system.fileSystem.status(of: path) != nil } catch { return true }
    }

    /// Returns the program's file that a domain is, or the file of the store. A link that cannot be followed makes no
    /// domain: no other layer must be missing because of it.
    func fileOfUser(_ domain: DomainName) -> DomainFile {
        do throws(StoreFailure) { return try adoptedFile(of: domain) ?? user.file(of: domain) } catch {
            return user.file(of: domain)
        }
    }
}

extension StoreFolder {
    /// The link to the file of a program that the domain is.
    package func link(of domain: DomainName) -> FilePath {
        folder.resolving(FilePath(domain.fileStem + Self.endingOfAdopted) ?? ".")
    }

    fileprivate static let endingOfAdopted = ".file"

    /// The link whose text is the name of the program in the catalogue, if the domain has another name.
    package func linkToProgram(of domain: DomainName) -> FilePath {
        folder.resolving(FilePath(domain.fileStem + ".program") ?? ".")
    }

    /// Returns the name under which the catalogue can have a schema of an adopted file.
    func program(ofAdopted domain: DomainName, on system: SystemServices) -> DomainName {
        let target = (try? system.fileSystem.destination(ofLink: linkToProgram(of: domain))) ?? nil
        return target.flatMap { try? DomainName($0.description) } ?? domain
    }

    /// Returns the program's file that a domain is, or nil if the domain is the store's own.
    package func adoptedFile(of domain: DomainName, on system: SystemServices) throws(StoreFailure) -> DomainFile? {
        guard canAdopt(domain) else { return nil }
        let link = link(of: domain)
        do throws(SystemFailure) {
            guard let target = try system.fileSystem.destination(ofLink: link) else { return nil }
            // Another user could let the caller, usually root, write to any file.
            guard try system.fileSystem.status(of: link, followingLink: false)?.owner == system.environment.user else {
                throw SystemFailure(.notPermitted, .followPlanted, link)
            }
            let path = folder.resolving(target)
            var file = self.file(
                at: path, place: try? path.resolvingLinks(in: system.fileSystem), name: domain.text,
                newFormat: .ofNewFile(ofProgramAt: path.description))
            (file.isAdopted, file.audience) = (true, .owner)
            return file
        } catch {
            throw StoreFailure(error, domain.text)
        }
    }

    /// Whether a domain can be a program's file. The settings of this library itself cannot.
    package func canAdopt(_ domain: DomainName) -> Bool {
        arrangement == .own && !domain.isGlobal && domain != StorePolicy.domain
    }

    /// Returns the domains that are programs' files, sorted.
    package func adoptedDomains(on system: SystemServices) throws(SystemFailure) -> [DomainName] {
        guard arrangement == .own else { return [] }
        return (try system.fileSystem.names(in: folder) ?? []).compactMap { name -> DomainName? in
            guard let domain = name.stem(before: Self.endingOfAdopted).flatMap({ try? DomainName($0) }),
                canAdopt(domain), link(of: domain).lastComponent == name,
                (try? system.fileSystem.destination(ofLink: folder.appending(name))) != nil
            else { return nil }
            return domain
        }.sorted()
    }

    /// Makes a domain of a program's file. Throws if the domain has a file of its own, which no writer creates
    /// meanwhile.
    ///
    /// - Parameter program: The name under which the catalogue has the program, or nil if it is not in it.
    package func adopt(
        _ path: FilePath, as domain: DomainName, of program: DomainName? = nil, on system: SystemServices
    ) throws(StoreFailure) {
        let own = try ResolvedFile(file(of: domain), on: system)
        let locks = try DomainLocks(of: [own], on: system, patience: .seconds(5))
        defer { locks.release() }
        do throws(SystemFailure) {
            guard try own.file.presentStatus(on: system) == nil else {
                throw SystemFailure(.exists, .link, own.file.path)
            }
            try system.makingFolder(folder, for: audience) { () throws(SystemFailure) in
                try removeLinkToProgram(of: domain, on: system)
                if let program, program != domain, let target = FilePath(program.text) {
                    try system.fileSystem.makeSymbolicLink(linkToProgram(of: domain), to: target)
                }
                try system.fileSystem.makeSymbolicLink(link(of: domain), to: path)
            }
            try system.fileSystem.synchronizeFolder(folder)
        } catch {
            throw StoreFailure(error, domain.text)
        }
    }

    private func removeLinkToProgram(of domain: DomainName, on system: SystemServices) throws(SystemFailure) {
        guard try system.fileSystem.destination(ofLink: linkToProgram(of: domain)) != nil else { return }
        try system.fileSystem.remove(linkToProgram(of: domain))
    }

    /// Removes a domain that is a program's file from the store. The file stays.
    package func removeAdopted(_ domain: DomainName, on system: SystemServices) throws(SystemFailure) {
        try system.fileSystem.remove(link(of: domain))
        try removeLinkToProgram(of: domain, on: system)
        try system.fileSystem.synchronizeFolder(folder)
    }
}

extension DomainFile {
    /// The link that would make a domain of the user a program's file.
    var linkOfAdopted: FilePath? {
        guard isOfDomain, audience == .owner, let stem = path.lastComponent?.propertyListStem else { return nil }
        return FileName(stem + StoreFolder.endingOfAdopted).map(path.parent.appending)
    }
}
