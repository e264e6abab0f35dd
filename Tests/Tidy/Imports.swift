/// Who may import what: a module exists because its list of imports differs, and arrows point down only.
enum Imports {
    /// What each module may import of this package and of the system. Also allowed everywhere: `everywhere`.
    static let allowed: [String: Set<String>] = [
        "Digests": [],
        "PropertyLists": ["Digests", "Synchronization"],
        "SettingsSchema": ["PropertyLists"],
        "MirrorEngine": ["Digests", "PropertyLists"],
        "Platform": ["Digests", "Glibc", "Synchronization"],
        "Preferences": ["Digests", "Observation", "Platform", "PropertyLists", "SettingsSchema", "Synchronization"],
        "PreferencesMirror": ["MirrorEngine", "Platform", "Preferences", "PropertyLists", "Synchronization"],
        "Commands": [
            "Glibc", "MirrorEngine", "Platform", "Preferences", "PreferencesMirror", "PropertyLists", "SettingsSchema",
            "Synchronization",
        ],
        "prefs": ["Commands", "Glibc"],
    ]

    private static let everywhere: Set = ["FoundationEssentials"]

    /// What stands in for a module on another system.
    private static let substitutes = ["Musl": "Glibc", "Darwin": "Glibc"]

    static func violations(in file: SourceFile) -> [Violation] {
        let folders = file.path.split(separator: "/").map(String.init)
        guard folders.count > 2, folders[0] == "Sources" else { return [] }
        guard let allowed = allowed[folders[1]] else {
            return [Violation(file.path, "the module \(folders[1]) has no row in the table of imports")]
        }
        return all(in: file).compactMap { line, module, isFallback in
            if module == "Foundation" {
                return isFallback
                    ? nil
                    : Violation(file.path, line: line, "Foundation, outside #else of canImport(FoundationEssentials)")
            }
            let counted = substitutes[module] ?? module
            guard !allowed.contains(counted), !everywhere.contains(counted) else { return nil }
            return Violation(file.path, line: line, "\(folders[1]) may not import \(module)")
        }
    }

    /// Each import, and whether it stands where there is no FoundationEssentials.
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
