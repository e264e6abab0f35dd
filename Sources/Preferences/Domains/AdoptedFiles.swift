package import Platform
internal import PropertyLists

// A domain can be the file of another program, which stays where the program expects it. The store has a symbolic link
// to it, `DOMAIN.file`. The domain is the file as it is addressed by its path, with the same lock and versions.

extension StoreFolder {
    /// The link to the file of a program that the domain is.
    package func link(of domain: DomainName) -> FilePath {
        folder.resolving(FilePath(domain.fileStem + Self.endingOfAdopted) ?? ".")
    }

    private static let endingOfAdopted = ".file"

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
                newFormat: .ofNewFile(named: path.description))
            file.isAdopted = true
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

    /// Makes a domain of a program's file. The domain must not exist.
    package func adopt(_ path: FilePath, as domain: DomainName, on system: SystemServices) throws(SystemFailure) {
        try system.makingFolder(folder, for: audience) { () throws(SystemFailure) in
            try system.fileSystem.makeSymbolicLink(link(of: domain), to: path)
        }
        try system.fileSystem.synchronizeFolder(folder)
    }

    /// Removes a domain that is a program's file from the store. The file stays.
    package func removeAdopted(_ domain: DomainName, on system: SystemServices) throws(SystemFailure) {
        try system.fileSystem.remove(link(of: domain))
        try system.fileSystem.synchronizeFolder(folder)
    }
}
