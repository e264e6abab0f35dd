internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// A settings bundle of iOS on disk: its folder, or one of its panes.
struct BundleFile {
    let folder: FilePath
    /// The name of the pane without `.plist`.
    let pane: String
    /// The beginning of the names of the bundle's files in messages.
    private let prefix: String
    private let context: CommandContext

    /// Returns the bundle whose folder an argument names, or nil if the argument is not a folder.
    init?(folder argument: String, _ context: CommandContext) throws {
        let path = try context.path(argument)
        guard try context.fileSystem.status(of: path)?.kind == .folder else { return nil }
        let (root, name): (FileName, String) = ("Root.plist", argument.onOneLine)
        guard try context.fileSystem.status(of: path.appending(root)) != nil else {
            guard argument.hasSuffix(".bundle") || argument.hasSuffix(".bundle/") else { return nil }
            throw CommandFailure(.notFound, "\(name): has no Root.plist, which a settings bundle requires")
        }
        self.init(folder: path, pane: "Root", prefix: name.hasSuffix("/") ? name : name + "/", context)
    }

    /// Returns the bundle that a file is a pane of, or nil if the file is not a pane.
    init?(pane path: FilePath, named argument: String, _ bytes: [UInt8], _ context: CommandContext) {
        guard let file = path.lastComponent?.description, file.hasSuffix(".plist"), SettingsBundle.isPane(bytes) else {
            return nil
        }
        let prefix = argument.onOneLine.dropLast(file.onOneLine.count)
        self.init(folder: path.parent, pane: String(file.dropLast(6)), prefix: String(prefix), context)
    }

    private init(folder: FilePath, pane: String, prefix: String, _ context: CommandContext) {
        (self.folder, self.pane, self.prefix, self.context) = (folder, pane, prefix, context)
    }

    func read(domain: String) throws -> SettingsBundle {
        try SettingsBundle(domain: domain, pane: pane, languages: context.environment.bundleLanguages) { name in
            try contents(of: name)
        }
    }

    /// Returns a finding as a line with its place.
    func line(for finding: SettingsBundle.Finding) -> String {
        let place = finding.location.map { "\($0.line):\($0.column): " } ?? " "
        let path = finding.path.components.isEmpty ? "" : "\(shortened(finding.path.description, to: 200)): "
        return "\(prefix)\(finding.file):\(place)\(finding.isWarning ? "warning: " : "")\(path)\(finding.text)".shown
    }

    /// Returns the contents of a file in the bundle.
    private func contents(of name: String) throws -> SettingsBundle.Contents {
        var path = folder
        for component in name.split(separator: "/") {
            // A file in place of a language's folder is treated as missing.
            guard try context.fileSystem.status(of: path)?.kind == .folder else { return .missing }
            guard let component = FileName(component) else { return .refused("is not a valid file name") }
            path = path.appending(component)
            // A link to another file of the same folder is common in bundles that are shared by languages.
            var links = 0
            while let destination = try context.fileSystem.destination(ofLink: path) {
                guard let target = FileName(destination.bytes), links < 8 else {
                    return .refused("is a symbolic link that leads out of its folder")
                }
                path = path.parent.appending(target)
                links += 1
            }
        }
        guard let file = try context.fileSystem.open(path, .readingNoFollow) else { return .missing }
        let status = try file.status()
        guard status.kind == .file else { return .refused("is not a regular file") }
        guard status.size <= SchemaPlaces.mostBytes else {
            return .refused("is too large, with \(status.size) bytes")
        }
        return .bytes(try file.contents(status, limit: SchemaPlaces.mostBytes))
    }
}

extension Environment {
    /// The user's languages as in the names of a bundle's folders, best first, and those that bundles fall back to.
    fileprivate var bundleLanguages: [String] {
        let locale =
            [Variable.locale, .localeOfMessages, .defaultLocale].lazy.compactMap { variables[$0.rawValue] }
            .first { !$0.isEmpty } ?? "C"
        let isPlain = ["C", "POSIX"].contains(locale.prefix { $0 != "." })
        let names =
            isPlain
            ? [] : (variables[Variable.languages.rawValue] ?? "").split(separator: ":").map(String.init) + [locale]
        var languages: [String] = []
        for name in names {
            let name = name.prefix { $0 != "." && $0 != "@" }
            let parts = name.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
            guard let language = parts.first else { continue }
            languages += [parts.joined(separator: "_"), parts.joined(separator: "-")]
            if language == "zh" {
                languages.append(parts.contains { ["TW", "HK", "MO", "Hant"].contains($0) } ? "zh-Hant" : "zh-Hans")
            }
            languages.append(language)
        }
        return (languages + ["en", "Base"]).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
