/// The targets of this package, as `Package.swift` declares them.
///
/// Read from the manifest's text: `swift package` waits for the lock that a running `swift test` holds.
struct PackageGraph {
    struct Target {
        let name: String
        let folder: String
        let dependencies: Set<String>
    }

    let targets: [Target]

    init(manifest: String) {
        targets = manifest.matches(of: /\.(target|executableTarget|testTarget)\(/).compactMap { match in
            let call = Self.untilClosed(manifest[match.range.upperBound...])
            guard let name = call.firstMatch(of: /name: "([^"]*)"/)?.1 else { return nil }
            let root = match.1 == "testTarget" ? "Tests" : "Sources"
            let names = call.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1.matches(of: /"([^"]*)"/) ?? []
            return Target(
                name: String(name), folder: String(call.firstMatch(of: /path: "([^"]*)"/)?.1 ?? "\(root)/\(name)"),
                dependencies: Set(names.map { String($0.1) }))
        }
    }

    /// The arguments of a call: the text up to the parenthesis that closes it.
    private static func untilClosed(_ text: Substring) -> Substring {
        var depth = 1
        return text.prefix { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth > 0
        }
    }

    /// The target that compiles a file.
    func target(of path: String) -> Target? { targets.first { path.hasPrefix($0.folder + "/") } }
}

/// The rule for imports: a module may import the dependencies of its target. Shipped modules may import only a few
/// modules of the system.
struct Imports {
    private let graph: PackageGraph
    private let ours: Set<String>

    init(_ graph: PackageGraph) {
        self.graph = graph
        ours = Set(graph.targets.map(\.name))
    }

    /// The modules of the system that a shipped module may import, besides `FoundationEssentials`.
    private static let system: [String: Set<String>] = [
        "PropertyLists": ["Synchronization"],
        // Only the build in which rules can be broken reads the environment.
        "MirrorEngine": ["Glibc", "Synchronization"],
        "Queries": ["Glibc", "Swift"],
        "Platform": ["Glibc", "Synchronization"],
        "Preferences": ["Observation", "Synchronization"],
        "PreferencesCoders": ["Synchronization"], "PreferencesFoundation": ["Foundation"],
        "PreferencesMirror": ["Synchronization"],
        "Commands": ["Glibc", "Synchronization"],
        "prefs": ["Glibc"],
    ]

    /// Modules that replace another one on other systems.
    private static let substitutes = ["Musl": "Glibc", "Darwin": "Glibc"]

    func violations(in file: SourceFile) -> [Violation] {
        let isShipped = file.path.hasPrefix("Sources/")
        guard let target = graph.target(of: file.path) else {
            return isShipped ? [Violation(file.path, "no target of Package.swift has this file")] : []
        }
        return Self.all(in: file).compactMap { line, module, isFallback in
            if ours.contains(module) {
                guard !target.dependencies.contains(module) else { return nil }
                return Violation(file.path, line: line, "\(target.name) does not depend on \(module)")
            }
            guard isShipped, module != "FoundationEssentials" else { return nil }
            if module == "Foundation", Self.system[target.name]?.contains(module) != true {
                guard !isFallback else { return nil }
                return Violation(file.path, line: line, "Foundation, outside #else of canImport(FoundationEssentials)")
            }
            let name = Self.substitutes[module] ?? module
            guard Self.system[target.name]?.contains(name) != true else { return nil }
            return Violation(file.path, line: line, "\(target.name) may not import \(module)")
        }
    }

    /// Each import, and whether it is in the branch for systems without FoundationEssentials.
    private static func all(in file: SourceFile) -> [(line: Int, module: String, isFallback: Bool)] {
        var found: [(Int, String, Bool)] = []
        var branches: [String] = []
        for (line, text) in zip(1..., file.code) {
            let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
            switch words.first {
            case "#if": branches.append(words.dropFirst().joined())
            case "#elseif" where !branches.isEmpty: branches[branches.count - 1] = words.dropFirst().joined()
            case "#else" where !branches.isEmpty: branches[branches.count - 1] = "!" + branches[branches.count - 1]
            case "#endif": _ = branches.popLast()
            default:
                guard let module = module(words) else { continue }
                found.append((line, module, branches.contains("!canImport(FoundationEssentials)")))
            }
        }
        return found
    }

    /// The module that a line imports, if it is an import.
    private static func module(_ words: [String]) -> String? {
        let modifiers: Set = ["public", "package", "internal", "fileprivate", "private"]
        let kinds: Set = ["typealias", "struct", "class", "enum", "protocol", "let", "var", "func"]
        let rest = words.drop { $0.hasPrefix("@") || modifiers.contains($0) }
        guard rest.first == "import" else { return nil }
        return rest.dropFirst().drop { kinds.contains($0) }.first?.split(separator: ".").first.map(String.init)
    }
}
