package import MirrorEngine
package import Platform
package import Preferences

/// The folders in which a store keeps the state of its mirrors.
package struct MirrorPlaces: Sendable {
    package let machine: Machine
    package let store: StorePlaces
    /// The folder of this host's mirrors, in which each has a folder named by its number.
    package let folder: FilePath
    private let host: String

    package init(_ store: StorePlaces, on machine: Machine) throws(StoreFailure) {
        self.machine = machine
        self.store = store
        host = try store.host()
        let history = store.user.history
        let isHidden = history.lastComponent?.bytes.first == UInt8(ascii: ".")
        let mirrors: FileName = isHidden ? ".mirror" : "mirror"
        folder = history.parent.appending(mirrors).resolving(FilePath(host) ?? ".")
    }

    package func folder(of mirror: MirrorID) -> FilePath { folder.resolving(FilePath(mirror.description) ?? ".") }

    /// A mirror that this store has joined.
    package struct Joined: Hashable, Sendable {
        package let id: MirrorID
        package let configuration: MirrorConfiguration
    }

    /// The mirrors that this store has joined, in the order of their numbers.
    package var joined: [Joined] { listing.joined }

    /// The mirrors that this store has joined, and the reasons why the configurations of others cannot be used.
    package var listing: (joined: [Joined], failures: [MirrorFailure]) {
        var (joined, failures) = ([Joined](), [MirrorFailure]())
        do throws(SystemFailure) {
            for name in try machine.fileSystem.names(in: folder) ?? [] {
                guard let id = MirrorID(name.description) else { continue }
                do throws(MirrorFailure) {
                    let found = try MirrorConfiguration.read(in: folder.appending(name), machine.fileSystem)
                    if let found { joined.append(Joined(id: id, configuration: found)) }
                } catch {
                    failures.append(error)
                }
            }
        } catch {
            failures.append(MirrorFailure(error))
        }
        return (joined, failures)
    }
}

// MARK: The host that mirrors a store

extension MirrorPlaces {
    /// The file with the name of the host that mirrors the store, or nil if the store has no lock folder.
    private var servingHostFile: FilePath? {
        guard case .file(let lock) = store.user.file(of: StorePolicy.domain).lock else { return nil }
        return lock.parent.appending("mirror")
    }

    /// Returns the file beside the preference files that contains this host's mark of a mirror.
    func mark(of mirror: MirrorID) -> FilePath? {
        servingHostFile.map { $0.parent.resolving(FilePath("mirror-\(mirror)") ?? ".") }
    }

    /// Throws if another host mirrors this store, which is then on a file server, or if the store has links that lead
    /// elsewhere.
    package func checkServingHost() throws(MirrorFailure) {
        do throws(StoreFailure) {
            try store.user.file(of: StorePolicy.domain).checkLinks(on: machine)
        } catch {
            throw MirrorFailure(error)
        }
        guard let servingHostFile,
            let bytes = (try? machine.fileSystem.contents(of: servingHostFile, limit: 4096)) ?? nil
        else {
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard let other = lines.first, other != host else { return }
        throw MirrorFailure(.servedElsewhere(host: lines.last ?? other))
    }

    /// Records that this host mirrors the store.
    package func recordServingHost() throws(MirrorFailure) {
        guard let servingHostFile else { return }
        do {
            try machine.fileSystem.makeFolders(servingHostFile.parent)
            let text = "\(host)\n\(machine.environment.hostName.shown)\n"
            if try machine.fileSystem.contents(of: servingHostFile, limit: 4096) == Array(text.utf8) { return }
            try machine.fileSystem.replace(servingHostFile, with: Array(text.utf8))
        } catch {
            throw MirrorFailure(error)
        }
    }
}

extension MirrorID {
    /// Decodes a number that `description` wrote.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else {
            return nil
        }
        self.init(high: high, low: low)
    }
}
