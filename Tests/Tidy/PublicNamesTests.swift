import Foundation
import TestSupport
import Testing

/// The public names of each product, which `public-names.txt` lists, so that every change of them is seen.
///
/// `PREFS_RECORD=1 swift test --filter PublicNamesTests` writes the list.
@Suite struct PublicNamesTests {
    private static let list = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "public-names.txt")

    /// The modules of each product. SettingsSchema is re-exported by Preferences.
    private static let products = [
        ("PropertyLists", ["PropertyLists"]), ("PreferencesCoders", ["PreferencesCoders"]), ("Queries", ["Queries"]),
        ("Preferences", ["Preferences", "SettingsSchema"]), ("PreferencesFoundation", ["PreferencesFoundation"]),
        ("PreferencesMirror", ["PreferencesMirror"]),
    ]

    #if arch(x86_64)
        private static let target = "x86_64-unknown-linux-gnu"
    #else
        private static let target = "aarch64-unknown-linux-gnu"
    #endif

    private struct Graph: Decodable {
        struct Symbol: Decodable { let pathComponents: [String] }
        let symbols: [Symbol]
    }

    @Test func `the documentation of a product lists its types`() throws {
        let lists = try String(contentsOf: Self.list, encoding: .utf8).split(separator: "\n").split { $0.first != " " }
        #expect(lists.count == Self.products.count)
        for (product, names) in zip(Self.products, lists) {
            let rows = try product.1.flatMap { module in
                let page = packageRoot.appending(path: "Sources/\(module)/\(module).docc/\(module).md")
                return try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            }
            let types = names.map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.first?.isUppercase ?? false && !$0.contains(".") }
            #expect(types.filter { !rows.contains("- ``\($0)``") } == [])
        }
    }

    @Test func `the public names are those of the list`() throws {
        let build = try #require(Bundle.main.executableURL).resolvingSymlinksInPath().deletingLastPathComponent()
        let folder = try TemporaryFolder()
        var lines: [String] = []
        for (product, modules) in Self.products {
            var names: Set<String> = []
            for module in modules {
                let outcome = try Subprocess.run(
                    "swift",
                    [
                        "symbolgraph-extract", "-module-name", module, "-target", Self.target, "-I",
                        build.appending(path: "Modules").path(percentEncoded: false), "-minimum-access-level", "public",
                        "-skip-synthesized-members", "-output-dir", folder.url.path(percentEncoded: false),
                    ])
                try #require(outcome.status == 0, "\(outcome.errorText)")
            }
            for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
                let module = file.lastPathComponent.prefix { $0 != "@" && $0 != "." }
                guard modules.contains(String(module)) else { continue }
                let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
                names.formUnion(graph.symbols.map { $0.pathComponents.joined(separator: ".") })
            }
            lines.append("\(product): \(names.count)")
            lines += names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "    \($0)" }
        }
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["PREFS_RECORD"] != nil {
            try text.write(to: Self.list, atomically: true, encoding: .utf8)
        }
        let recorded = try String(contentsOf: Self.list, encoding: .utf8).split(separator: "\n")
        let changes = text.split(separator: "\n").difference(from: recorded)
        #expect(changes.isEmpty, "\(changes.map(\.self))")
    }
}
