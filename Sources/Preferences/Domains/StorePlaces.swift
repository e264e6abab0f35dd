internal import Platform

/// Where the layers of a store have their files.
package struct StorePlaces: Sendable {
    package let user: StoreFolder
    /// The administrator's suggestions, the most important first.
    package let site: [StoreFolder]
    /// The administrator's decisions.
    package let forced: StoreFolder?
    private let machine: Machine

    /// The places of a kind of store; nil for one without files.
    package init?(_ kind: Store.Kind, on machine: Machine) throws(StoreFailure) {
        self.machine = machine
        func folder(_ kind: Environment.BaseFolder) throws(StoreFailure) -> FilePath {
            do {
                return try machine.environment.folder(kind, in: machine.fileSystem)
            } catch let failure as SystemFailure {
                throw StoreFailure(failure, "the user's home")
            } catch {
                throw StoreFailure(.homeless, "the user's home")
            }
        }
        func own(_ folder: FilePath, _ history: FilePath) -> StoreFolder {
            StoreFolder(folder, .own, history: history, notes: folder)
        }
        switch kind {
        case .memory: return nil
        case .native:
            let prefs: FileName = "prefs"
            user = own(
                try folder(.configuration).appending(prefs), try folder(.state).resolving("prefs/history"))
            site = machine.environment.systemFolders(.configuration).map {
                own($0.appending(prefs), $0.resolving("prefs/.history"))
            }
            forced = own(machine.forcedFolder, machine.forcedFolder.appending(".history"))
        case .folder(let path):
            user = own(path, path.appending(".history"))
            (site, forced) = ([], nil)
        case .foundation, .gnustep:
            let configuration = try folder(.configuration)
            let home =
                kind == .foundation
                ? configuration : try Self.home(machine).resolving("GNUstep/Defaults")
            user = StoreFolder(
                home,
                .foreign(newFormat: kind == .foundation ? .xml : .openstep, isReadOnly: kind == .gnustep),
                history: try folder(.state).resolving("prefs/history"),
                notes: configuration.appending("prefs"))
            (site, forced) = ([], nil)
        }
    }

    private static func home(_ machine: Machine) throws(StoreFailure) -> FilePath {
        do {
            return try machine.environment.home(in: machine.fileSystem)
        } catch let failure as SystemFailure {
            throw StoreFailure(failure, "the user's home")
        } catch {
            throw StoreFailure(.homeless, "the user's home")
        }
    }
}

extension StorePlaces {
    /// What this host is called in names of files.
    package func host() throws(StoreFailure) -> String {
        do throws(SystemFailure) {
            return try machine.environment.hostIdentity(in: machine.fileSystem).description
        } catch {
            throw StoreFailure(error, "the host")
        }
    }

    /// The files that a look-up in a domain asks, in their order.
    ///
    /// - Parameter suites: Other domains that stand behind the user's own, the most important first.
    package func searchList(
        _ domain: DomainName, suites: [DomainName] = []
    ) throws(StoreFailure) -> [(layer: Layer, file: DomainFile)] {
        let host = user.arrangement == .own ? try host() : nil
        func hostFile(_ domain: DomainName) -> DomainFile? { host.map { user.file(of: domain, on: $0) } }
        var list: [(Layer, DomainFile?)] = [(.forced, forced?.file(of: domain))]
        if !domain.isGlobal { list += [(.userHost, hostFile(domain)), (.user, user.file(of: domain))] }
        list += suites.map { (.suite($0.text), user.file(of: $0)) }
        list += [(.globalHost, hostFile(.global)), (.global, user.file(of: .global))]
        for folder in site {
            if !domain.isGlobal { list.append((.site, folder.file(of: domain))) }
            list.append((.siteGlobal, folder.file(of: .global)))
        }
        return list.compactMap { layer, file in file.map { (layer, $0) } }
    }
}

extension DomainFile {
    /// Whether only the administrator can have written the file, so that it may force values.
    package func isTrusted(on machine: Machine) -> Bool {
        [path, path.parent].allSatisfy { path in
            guard let status = (try? machine.fileSystem.status(of: path)) ?? nil else { return false }
            return status.owner == machine.administrator
                && status.permissions.isDisjoint(with: [.writableByGroup, .writableByOthers])
        }
    }
}
