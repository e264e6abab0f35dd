import Commands
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct SettingsBundleVerbTests {
    static let root = """
        { StringsTable = Root; PreferenceSpecifiers = (
            { Type = PSGroupSpecifier; Title = Look; FooterText = "How it looks."; },
            { Type = PSMultiValueSpecifier; Key = theme; Title = Theme; Values = (0, 1); Titles = (Dark, Light);
              DefaultValue = 0; ShortTitles = (D, L); },
            { Type = PSChildPaneSpecifier; Title = Network; File = Network; } ); }
        """
    static let network = """
        { PreferenceSpecifiers = ({ Type = PSTextFieldSpecifier; Key = host; Title = Host; DefaultValue = localhost; }); }
        """

    /// A machine with files in `Settings.bundle` of the home folder.
    private func machine(_ more: [String: String] = [:]) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        let bundle = SimulatedMachine.home.appending("Settings.bundle")
        let texts = [
            "Root.plist": Self.root, "Network.plist": Self.network,
            "de.lproj/Root.strings": "Theme = Thema; Dark = Dunkel; Light = Hell;",
        ].merging(more) { $1 }
        for (name, text) in texts where !text.isEmpty {
            let path = bundle.resolving(try #require(FilePath(name)))
            try machine.fileSystem.makeFolders(path.parent)
            try machine.fileSystem.replace(path, with: Array(text.utf8))
        }
        return machine
    }

    @Test func `import prints a schema that can be installed`() throws {
        let machine = try machine()
        let outcome = try runPrefs(
            ["prefs", "schema", "import", "~/Settings.bundle", "--domain", "com.example.app", "-o", "~/s.plist"],
            on: machine, variables: ["LANG": "de_DE.UTF-8"])
        #expect(
            outcome
                == Transcript.Outcome(
                    errors:
                        "prefs: ~/Settings.bundle/Root.plist:3:5: warning: :PreferenceSpecifiers:1: ShortTitles is left out\n"
                ))
        #expect(try runPrefs(["prefs", "schema", "check", "~/s.plist"], on: machine).output == "~/s.plist: OK\n")
        #expect(try runPrefs(["prefs", "schema", "install", "~/s.plist"], on: machine).status == 0)
        let shown = try runPrefs(["prefs", "schema", "show", "com.example.app"], on: machine)
        #expect(shown.output.contains("Thema") && shown.output.contains("host"), "\(shown)")
        let printed = try runPrefs(
            ["prefs", "schema", "import", "~/Settings.bundle/Root.plist", "--domain", "com.example.app"], on: machine)
        #expect(
            printed.output.contains("ChoiceTitles = (") && printed.output.contains("Group = Network;"), "\(printed)")
    }

    @Test func `a bundle is checked, shown, installed and filled in directly`() throws {
        let machine = try machine()
        for name in ["~/Settings.bundle", "~/Settings.bundle/Root.plist"] {
            let check = try runPrefs(["prefs", "schema", "check", name], on: machine)
            #expect(check.status == 0 && check.output.hasSuffix("\(name): OK\n"), "\(check)")
            let shown = try runPrefs(["prefs", "schema", "show", name], on: machine)
            #expect(shown.status == 0 && shown.output.contains("theme"), "\(shown)")
        }
        let form = try runPrefs(
            ["prefs", "form", "--plain", "~/Settings.bundle", "--domain", "com.example.app"],
            input: "Light\nexample.org\n:save\n", on: machine)
        #expect(form.status == 0 && form.output.contains("  Light\n"), "\(form)")
        #expect(try runPrefs(["prefs", "read", "com.example.app", "theme"], on: machine).output == "1\n")
        let install = ["prefs", "schema", "install", "~/Settings.bundle", "--domain", "com.example.app"]
        #expect(try runPrefs(install, on: machine) == Transcript.Outcome())
        let refused = try runPrefs(["prefs", "write", "com.example.app", "theme", "2"], on: machine)
        #expect(refused.status == 3, "\(refused)")
    }

    /// Arguments after `prefs`, files of the bundle, the status, and the first error.
    static let refusals: [(words: [String], files: [String: String], status: Int32, error: String)] = [
        (
            ["schema", "import", "~/Settings.bundle"], [:], 2,
            "~/Settings.bundle: a settings bundle does not name its domain; add --domain DOMAIN"
        ),
        (
            ["form", "~/Settings.bundle"], [:], 2,
            "~/Settings.bundle: a settings bundle does not name its domain; add --domain DOMAIN"
        ),
        (
            ["form", "~/Settings.bundle/Root.plist"], [:], 2,
            "~/Settings.bundle/Root.plist: a settings bundle does not name its domain; add --domain DOMAIN"
        ),
        (
            ["schema", "install", "~/Settings.bundle"], [:], 2,
            "~/Settings.bundle: a settings bundle does not name its domain; add --domain DOMAIN"
        ),
        (
            ["schema", "import", "~/Settings.bundle/s.plist", "--domain", "d"], ["s.plist": "{ Domain = d; }"], 2,
            "~/Settings.bundle/s.plist: neither a settings bundle nor a JSON Schema; only these require --domain"
        ),
        (
            ["schema", "show", "~/Settings.bundle/none.plist"], [:], 1, "~/Settings.bundle/none.plist: no such schema"
        ),
        (
            ["schema", "import", "~/Settings.bundle/en.bundle", "--domain", "d"], ["en.bundle/a": "x"], 1,
            "~/Settings.bundle/en.bundle: has no Root.plist, which a settings bundle requires"
        ),
        (
            ["schema", "import", "~/Settings.bundle", "--domain", "d"], ["Root.plist": "{ PreferenceSpecifiers = x; }"],
            5,
            "~/Settings.bundle/Root.plist:1:3: :PreferenceSpecifiers: must be an array"
        ),
        (
            ["schema", "import", "~/Settings.bundle", "--domain", "d"], ["Network.plist": "{ a"], 5,
            "~/Settings.bundle/Network.plist:1:"
        ),
        (["schema", "export", "~/Settings.bundle"], [:], 2, "schema export requires --settings-bundle DIR"),
        (
            ["schema", "export", "~/Settings.bundle", "--settings-bundle", "~/Settings.bundle"], [:], 2,
            "~/Settings.bundle: the folder is not empty"
        ),
    ]

    @Test(arguments: refusals.indices)
    func `a bundle that cannot be read is rejected`(_ index: Int) throws {
        let row = Self.refusals[index]
        let outcome = try runPrefs(["prefs"] + row.words, on: machine(row.files))
        #expect(outcome.status == row.status && outcome.errors.hasPrefix("prefs: \(row.error)"), "\(outcome)")
        #expect(outcome.output == "")
    }

    /// Tests that links are followed within their folder only.
    @Test(arguments: [
        ("Other.plist", true), ("../secret.plist", false), ("/home/ada/secret.plist", false), ("Network.plist", false),
    ])
    func `a link is followed only within its folder`(_ target: String, _ isRead: Bool) throws {
        let machine = try machine([
            "Network.plist": "", "Other.plist": Self.network, "../secret.plist": Self.network,
        ])
        try machine.fileSystem.makeSymbolicLink(
            "/home/ada/Settings.bundle/Network.plist", to: try #require(FilePath(target)))
        let outcome = try runPrefs(["prefs", "schema", "check", "~/Settings.bundle"], on: machine)
        #expect(outcome.status == (isRead ? 0 : 5), "\(outcome)")
        let reason = ":PreferenceSpecifiers:2:File: Network.plist is a symbolic link that leads out of its folder"
        #expect(outcome.output.contains(reason) == !isRead, "\(outcome)")
    }

    @Test func `a file in place of a language's folder is ignored`() throws {
        let machine = try machine(["fr.lproj": "x"])
        let outcome = try runPrefs(
            ["prefs", "schema", "check", "~/Settings.bundle"], on: machine, variables: ["LC_ALL": "fr_FR"])
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    }

    @Test func `export writes a bundle that import reads back`() throws {
        let machine = try machine()
        _ = try machine.fileSystem.makeFolder("/home/ada/Other.bundle", .privateFolder)
        func imported(_ name: String) throws -> String {
            try runPrefs(
                ["prefs", "schema", "import", "--format", "xml", name, "--domain", "com.example.app"], on: machine
            ).output
        }
        try machine.fileSystem.replace(
            "/home/ada/s.plist", with: Array(try imported("~/Settings.bundle").utf8))
        let export = try runPrefs(
            ["prefs", "schema", "export", "~/s.plist", "--settings-bundle", "~/Other.bundle"], on: machine)
        #expect(export == Transcript.Outcome())
        #expect(try imported("~/Other.bundle") == imported("~/Settings.bundle"))
    }
}
