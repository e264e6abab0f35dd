import Foundation
import TestSupport
import Testing

/// Tests the files that `Sources/prefs/install` installs and removes.
@Suite(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"))
struct `Installing` {
    private let folder: TemporaryFolder
    private let prefix: URL

    init() throws {
        folder = try TemporaryFolder()
        prefix = folder.url.appending(path: "a prefix")
    }

    private func install(_ words: [String]) throws -> Subprocess {
        let command = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "prefs").path(percentEncoded: false)
        return try Subprocess.run(
            packageRoot.appending(path: "Sources/prefs/install").path(percentEncoded: false), words,
            environment: [
                "PREFS_COMMAND": command, "HOME": folder.url.appending(path: "home").path(percentEncoded: false),
            ], in: folder.url)
    }

    private func files(_ place: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: place.path(percentEncoded: false)).filter { path in
            var isFolder: ObjCBool = false
            let full = place.appending(path: path).path(percentEncoded: false)
            return FileManager.default.fileExists(atPath: full, isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    @Test func `without a folder uses the user's own`() throws {
        let own = folder.url.appending(path: "home/.local").path(percentEncoded: false)
        #expect(try install([]).text == "installed in \(own)\n")
        #expect(try install(["--remove"]).status == 0)
        #expect(try files(folder.url.appending(path: "home")) == [])
    }

    /// The folder is given by its name and by its full path.
    @Test(arguments: ["a prefix", ""])
    func `puts command, manual and completions in a folder, and removes only these`(_ word: String) throws {
        let words = [word.isEmpty ? prefix.path(percentEncoded: false) : word]
        try folder.write("", to: "a prefix/bin/other")
        let installed = try install(words)
        #expect(installed.status == 0, "\(installed.errorText)")
        let all = try FileManager.default.contentsOfDirectory(
            atPath: packageRoot.appending(path: "man").path(percentEncoded: false)
        ).map { "share/man/man\($0.suffix(1))/\($0)" }
        let pages = all.filter { page in !Self.appleNames.contains { page.contains("/\($0).") } }
        let others = [
            "bin/other", "bin/prefs", "share/bash-completion/completions/prefs",
            "share/fish/vendor_completions.d/prefs.fish", "share/zsh/site-functions/_prefs",
        ]
        let programs = try FileManager.default.contentsOfDirectory(
            atPath: packageRoot.appending(path: "Sources/prefs/programs").path(percentEncoded: false)
        ).map { "share/prefs/programs/\($0)" }
        #expect(try files(prefix) == (pages + programs + others).sorted())
        let command = prefix.appending(path: "bin/prefs").path(percentEncoded: false)
        #expect(try Subprocess.run(command, ["--version"]).status == 0)
        for (shell, place) in zip(["bash", "fish", "zsh"], others.dropFirst(2)) {
            let script = try Data(contentsOf: prefix.appending(path: place))
            #expect(try script == Subprocess.run(command, ["completions", shell]).output && !script.isEmpty)
        }
        #expect(try install(["--remove"] + words).status == 0)
        #expect(try files(prefix) == ["bin/other"])
        #expect(try install(["--remove"] + words).status == 0)
    }

    private static let appleNames = ["defaults", "plutil", "PlistBuddy"]

    /// If another package has a program with one of the names, its page and its completions are kept too.
    @Test func `with Apple's names links the names that are free`() throws {
        try folder.write("", to: "a prefix/bin/plutil")
        let installed = try install(["--apple-names", "a prefix"])
        #expect(installed.status == 0 && installed.errorText.hasSuffix("bin/plutil: another program; not replaced\n"))
        let files = try files(prefix)
        for (name, isFree) in zip(Self.appleNames, [true, false, true]) {
            let page = "share/man/man\(name == "PlistBuddy" ? "8/PlistBuddy.8" : "1/\(name).1")"
            for file in [page, "share/bash-completion/completions/\(name)", "share/zsh/site-functions/_\(name)"] {
                #expect(files.contains(file) == isFree, "\(file)")
            }
        }
        try folder.write("<plist><dict/></plist>", to: "a.plist")
        let buddy = prefix.appending(path: "bin/PlistBuddy").path(percentEncoded: false)
        let edited = try Subprocess.run(buddy, ["-c", "Add :a integer 7", "-c", "Print :a", "a.plist"], in: folder.url)
        #expect(edited.text == "7\n" && edited.status == 0)
        #expect(try install(["--remove", "a prefix"]).status == 0)
        #expect(try self.files(prefix) == ["bin/plutil"])
    }

    @Test(arguments: [["--nonsense"], ["a prefix", "--apple-names"], ["--remove", "a prefix", "other"]])
    func `with an unknown option or too many words prints the usage`(_ words: [String]) throws {
        let refused = try install(words)
        #expect(refused.status == 2 && refused.errorText.contains("Sources/prefs/install --remove [FOLDER]"))
    }
}
