internal import Platform
internal import Preferences
internal import PropertyLists

/// The data that all checks use: the store and its domains in all layers.
struct DoctorContext: Sendable {
    let access: StoreAccess
    /// The store named on the command line.
    private let store: String?
    let domains: [CheckedDomain]

    var system: SystemServices { access.system }
    var files: any FileSystem { access.system.fileSystem }
    var user: StoreFolder { access.places.user }

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        let access = try StoreAccess(invocation, context)
        self.access = access
        store = invocation[.store]
        domains = try access.places.writablePlaces().flatMap { place in
            // A folder that cannot be listed is reported by another check.
            ((try? access.names(in: place)) ?? (try? place.domains(in: context.fileSystem)) ?? []).map { name in
                CheckedDomain(name: name, layer: place.layer, file: place.file(of: name))
            }
        }
    }

    /// The user to whom all files should belong. Root may look at the store of another user.
    var owner: UInt32 {
        let user = system.environment.user
        guard user == 0 else { return user }
        return (try? files.status(of: self.user.folder))?.owner ?? user
    }

    /// Returns the target of a symbolic link, or nil if there is no link or no target.
    func target(ofLink path: FilePath) -> (path: FilePath, status: FileStatus)? {
        guard (try? files.destination(ofLink: path)) != nil, let target = try? path.resolvingLinks(in: files),
            let status = try? files.status(of: target)
        else { return nil }
        return (target, status)
    }

    /// Returns a command on a domain in its layer.
    func command(
        _ verb: String, _ domain: CheckedDomain, _ operands: [String] = [], options: [String] = []
    ) -> DoctorFinding.Remedy {
        let words = spelling(of: domain.name.text, in: domain.layer).words([verb], options: options, operands)
        let needsRights = domain.layer.isOfAdministrator && system.environment.user != system.administrator
        return .command(needsRights ? ["sudo"] + words : words)
    }

    /// Returns a command for the same store that takes no domain.
    func command(_ verb: [String]) -> DoctorFinding.Remedy {
        .command([Prefs.name] + Option.words(naming: store) + verb)
    }

    /// Returns the spelling of commands on a domain in the same store.
    func spelling(of domain: String, in layer: Layer = .user) -> CommandSpelling {
        CommandSpelling(domain, in: layer, store: store)
    }

    /// Returns the command that removes a key from a domain in its layer.
    func removal(of key: String, in domain: CheckedDomain) -> DoctorFinding.Remedy {
        let argument = (try? KeyArgument(EntryPath([EntryPath.Component(key)])))?.argument
        return argument.map { command("delete", domain, [$0]) }
            ?? .advice("this key cannot be on a command line: prefs edit")
    }

    /// Returns the command that moves a folder away which is in the place of a file, or nil if there is none.
    func removal(ofFolder path: FilePath, needsRights: Bool = false) -> DoctorFinding.Remedy? {
        guard (try? files.status(of: path))??.kind == .folder, let name = path.lastComponent else { return nil }
        let rights = needsRights && system.environment.user != system.administrator ? ["sudo"] : []
        return .command(
            rights + ["mv", "-n"], on: path, path.parent.appending(name.appending(".damaged-0" as FileName)))
    }

    /// Returns the names in a folder, or none if it cannot be listed.
    func names(in folder: FilePath) -> [FileName] { (try? files.names(in: folder)) ?? [] }

    /// The folders of domains that are stored as folders, also those without any value.
    var domainFolders: [FilePath] {
        let empty =
            user.arrangement != .own
            ? []
            : writtenFolders.prefix(2).flatMap { folder in
                names(in: folder).filter { $0.bytes.suffix(6).elementsEqual(".prefs".utf8) }.map(folder.appending)
            }
        let all = Set(domains.compactMap(\.file.folder) + empty).sorted { $0.description < $1.description }
        return all.filter { (try? files.status(of: $0))?.kind == .folder }
    }

    /// Returns the file of a domain, or its folder and the files in it that hold values.
    func paths(of file: DomainFile) -> [FilePath] {
        let place = file.place(on: system)
        guard place == file.folder else { return [place] }
        return [place] + names(in: place).filter { MemberName($0) != nil }.map(place.appending)
    }

    /// The folders of the user's store in which settings are written.
    var writtenFolders: [FilePath] {
        [user.folder, user.folder.appending(StoreFolder.hostFolder), user.transactions]
    }
}

/// A domain in a layer with files.
struct CheckedDomain: Sendable {
    let name: DomainName
    let layer: Layer
    let file: DomainFile
}

/// A finding of the doctor, and how to fix it.
///
///     /home/ada/.config/prefs/d.plist: others can read it
///         chmod go-rwx /home/ada/.config/prefs/d.plist
struct DoctorFinding: Hashable, Sendable {
    /// The file, or the domain and key.
    let place: String
    let problem: String
    let remedy: Remedy

    /// A way to fix the problem.
    enum Remedy: Hashable, Sendable {
        /// A command, as words.
        case command([String])
        /// Advice, where no command can fix the problem.
        case advice(String)
    }

    init(_ place: String, _ problem: String, _ remedy: Remedy) {
        self.place = place.shown
        self.problem = problem.shown
        self.remedy = remedy
    }

    /// The finding, followed by a line that can be pasted into a shell; advice is a comment.
    var lines: [String] { ["\(place): \(problem)", "    \(remedy.line)"] }
}

extension DoctorFinding.Remedy {
    var line: String {
        switch self {
        case .command(let words): ShellWord.line(words)
        case .advice(let text): "# \(text.shown)"
        }
    }

    /// Returns a command on a file, or advice if its path cannot safely be on a command line.
    static func command(_ words: [String], on path: FilePath) -> DoctorFinding.Remedy {
        guard let text = String(validating: path.bytes, as: UTF8.self), text == text.onOneLine else {
            return .advice("\(words.joined(separator: " ")), for the file of this name")
        }
        return .command(words + [text])
    }

    /// Returns a command on a file and another path.
    static func command(_ words: [String], on path: FilePath, _ other: FilePath) -> DoctorFinding.Remedy {
        guard case .command(let all) = command(words, on: path), case .command(let last) = command([], on: other) else {
            return command(words, on: path)
        }
        return .command(all + last)
    }
}

/// A check that the doctor performs.
package struct DoctorCheck: Sendable {
    /// The subject of the check, as listed in the manual.
    package let subject: String
    let find: @Sendable (DoctorContext) throws -> [DoctorFinding]

    package static let all: [DoctorCheck] = [
        variables, permissions, folders, damage, adopted, leftovers, foreignFiles, namesThatLookAlike, schemas,
        memories,
        versions, values, unknownKeys, forcedFiles, closedLayers, temporaries, libraryFiles, transactions, locks,
        watching, mirrors,
    ]
}
