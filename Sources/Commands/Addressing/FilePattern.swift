internal import Platform
internal import Preferences
internal import PropertyLists

/// A path with `*`, `?`, `[a-z]` or `**`, which names all regular files that it matches.
///
/// The components before the first wildcard are a path like any other. After it, links are not followed, since they may
/// lead out of the folder. `**` stands for any number of folders, except hidden ones and `node_modules`. As in a shell,
/// a hidden name matches only a component that begins with a dot.
struct FilePattern {
    private enum Component: Hashable {
        case name(FileName)
        case names(Glob, showsHidden: Bool)
        case folders
    }

    /// A file that the pattern matches.
    struct Match {
        /// The path as the command line would name it.
        let word: String
        let path: FilePath
    }

    private let word: String
    /// The path before the first wildcard, with a slash at its end if it is not empty.
    private let base: String
    private let components: [Component]

    /// Parses an argument. Returns nil if it is not a path with a wildcard, or if a file has this very name.
    init?(_ word: String, in context: CommandContext) throws {
        guard context.dialect == .modern, DomainArgument.isPattern(word), try !Self.isFile(word, in: context) else {
            return nil
        }
        let parts = word.split(separator: "/").map { (text: String($0), glob: Glob(String($0))) }
        guard let first = parts.firstIndex(where: { $0.glob.literal == nil }) else { return nil }
        guard !word.hasSuffix("/") else {
            throw CommandFailure(.usage, "\(word.onOneLine): names folders, not files")
        }
        if let part = parts.first(where: { $0.glob.hasUnmatchedBracket }) {
            throw CommandFailure(
                .usage, "\(word.onOneLine): \(part.text.onOneLine) has a [ without ]; write \\[ for the character")
        }
        self.word = word
        base = (word.hasPrefix("/") ? "/" : "") + parts[..<first].map { ($0.glob.literal ?? "") + "/" }.joined()
        var components: [Component] = []
        for part in parts[first...] where part.text != "." {
            if part.text == "**" {
                if components.last != .folders { components.append(.folders) }
            } else if let literal = part.glob.literal {
                guard let name = FileName(ByteText.bytes(literal)) else {
                    throw CommandFailure(
                        .usage, "\(word.onOneLine): \(literal.onOneLine) cannot follow a component with a wildcard")
                }
                components.append(.name(name))
            } else {
                components.append(.names(part.glob, showsHidden: part.text.hasPrefix(".")))
            }
        }
        // All files in the folders.
        if components.last == .folders { components.append(.names(Glob("*"), showsHidden: false)) }
        self.components = components
    }

    private static func isFile(_ word: String, in context: CommandContext) throws -> Bool {
        for name in [word, word + ".plist"]
        where try context.fileSystem.status(of: context.path(name), followingLink: false) != nil {
            return true
        }
        return false
    }

    /// The maximum number of files that one command reads or changes.
    static let mostFiles = 10_000

    /// Returns the files that match, sorted, and the failures of folders that cannot be read.
    func matches(in context: CommandContext) throws -> (files: [Match], failures: [SystemFailure]) {
        let folder = try context.absolutePath(base.isEmpty ? "./" : base)
        var search = Search(pattern: self, files: context.fileSystem)
        search.visit(Search.Place(folder: folder, index: 0), base)
        guard search.found.count <= Self.mostFiles else {
            throw CommandFailure(.invalidValue, "\(word.onOneLine): matches more than \(Self.mostFiles) files")
        }
        let found = search.found.map { Match(word: $0.value, path: $0.key) }
        return (found.sorted { $0.word.isBefore($1.word) }, search.failures)
    }

    /// Throws if a file or one of the folders that the pattern has found belongs to another user. Folders of root are
    /// accepted, since root could change everything in them anyway.
    func checkOwners(of files: [Match], in context: CommandContext) throws {
        let user = context.environment.user
        let start = try context.absolutePath(base.isEmpty ? "./" : base)
        var known: Set<FilePath> = []
        func check(_ path: FilePath, _ name: String, _ owners: [UInt32]) throws {
            guard known.insert(path).inserted,
                let status = try context.fileSystem.status(of: path, followingLink: path == start),
                !owners.contains(status.owner)
            else { return }
            throw CommandFailure(.systemFailed, "\(name.onOneLine): belongs to another user; nothing was changed")
        }
        for file in files {
            try check(file.path, file.word, [user])
            var folder = file.path.parent
            while folder.components.count > start.components.count {
                try check(folder, folder.word, [user, 0])
                folder = folder.parent
            }
            try check(start, base.isEmpty ? "." : base, [user, 0])
        }
    }

    /// The walk through the folders.
    private struct Search {
        struct Place: Hashable {
            let folder: FilePath
            /// The index of the component that the names in the folder are compared with.
            let index: Int
        }

        let pattern: FilePattern
        let files: any FileSystem
        var found: [FilePath: String] = [:]
        var failures: [SystemFailure] = []
        private var visited: Set<Place> = []

        init(pattern: FilePattern, files: any FileSystem) { (self.pattern, self.files) = (pattern, files) }

        mutating func visit(_ place: Place, _ prefix: String) {
            guard found.count <= FilePattern.mostFiles, visited.insert(place).inserted else { return }
            switch pattern.components[place.index] {
            case .name(let name): take(name, at: place, prefix)
            case .names(let glob, let showsHidden):
                for name in names(in: place.folder) where showsHidden || !name.isHidden {
                    if glob.matches(ByteText.text(name.bytes)) { take(name, at: place, prefix) }
                }
            case .folders:
                visit(Place(folder: place.folder, index: place.index + 1), prefix)
                for name in names(in: place.folder)
                where !name.isHidden && name != "node_modules" && kind(of: place.folder.appending(name)) == .folder {
                    let text = prefix + ByteText.text(name.bytes) + "/"
                    visit(Place(folder: place.folder.appending(name), index: place.index), text)
                }
            }
        }

        /// Takes a file that the last component matches, or a folder that another one matches.
        private mutating func take(_ name: FileName, at place: Place, _ prefix: String) {
            let (path, text) = (place.folder.appending(name), prefix + ByteText.text(name.bytes))
            let isLast = place.index == pattern.components.count - 1
            switch kind(of: path) {
            case .file? where isLast: found[path] = text
            case .folder? where !isLast: visit(Place(folder: path, index: place.index + 1), text + "/")
            default: break
            }
        }

        private mutating func names(in folder: FilePath) -> [FileName] {
            do throws(SystemFailure) {
                return try (files.names(in: folder) ?? []).filter { !$0.isTemporary }
            } catch {
                note(error)
                return []
            }
        }

        private mutating func kind(of path: FilePath) -> FileStatus.Kind? {
            do throws(SystemFailure) {
                return try files.status(of: path, followingLink: false)?.kind
            } catch {
                note(error)
                return nil
            }
        }

        private mutating func note(_ failure: SystemFailure) {
            if !failures.contains(where: { $0.path == failure.path }) { failures.append(failure) }
        }
    }
}

extension FileName {
    fileprivate var isHidden: Bool { bytes.first == UInt8(ascii: ".") }
}

extension CommandContext {
    /// Returns the files that a pattern matches, or nil if the argument is not a pattern. Throws if there is none.
    ///
    /// - Parameter isWriting: Whether the files are changed. Then all of them must belong to the user, and every folder
    ///   must be readable.
    func files(matching word: String, isWriting: Bool) throws -> (words: [String], status: ExitStatus)? {
        guard let pattern = try FilePattern(word, in: self) else { return nil }
        let (files, failures) = try pattern.matches(in: self)
        if let failure = failures.first, isWriting || files.isEmpty { throw failure }
        guard !files.isEmpty else {
            throw CommandFailure(.notFound, "\(word.onOneLine): no file matches this pattern")
        }
        for failure in failures { note(failure.description) }
        if isWriting { try pattern.checkOwners(of: files, in: self) }
        return (files.map(\.word), failures.isEmpty ? .done : .systemFailed)
    }
}
