import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

@Suite struct SettingsBundleTests {
    /// Reads panes given as the OpenStep text of their specifiers.
    private func bundle(
        _ files: [String: String], languages: [String] = [], refusing: [String: String] = [:]
    ) throws -> SettingsBundle {
        try SettingsBundle(domain: "com.example.app", languages: languages) { name in
            if let reason = refusing[name] { return .refused(reason) }
            return files[name].map { .bytes(Array($0.utf8)) } ?? .missing
        }
    }

    private func lines(_ bundle: SettingsBundle) -> [String] {
        bundle.findings.map { finding in
            let place = finding.location.map { "\($0.line):\($0.column): " } ?? ""
            let path = finding.path.components.isEmpty ? "" : "\(finding.path) "
            return "\(finding.file):\(place)\(finding.isWarning ? "warning: " : "")\(path)\(finding.text)"
        }
    }

    /// A specifier, the setting that it becomes, and the specifier that the setting is written as, if that differs.
    static let specifiers: [(specifier: String, setting: String, written: String?)] = [
        (
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; DefaultValue = <*BY>;",
            "Key = k; Type = boolean; Default = <*BY>; Title = T;", nil
        ),
        (
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; DefaultValue = <*I1>;",
            "Key = k; Type = boolean; Default = <*BY>; Title = T;",
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; DefaultValue = <*BY>;"
        ),
        (
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; TrueValue = yes; FalseValue = no; DefaultValue = no;",
            "Key = k; Type = string; Choices = (yes, no); ChoiceTitles = (On, Off); Default = no; Title = T;", nil
        ),
        (
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; TrueValue = <*I7>; FalseValue = <*I0>; DefaultValue = <*BY>;",
            "Key = k; Type = integer; Choices = (<*I7>, <*I0>); ChoiceTitles = (On, Off); Default = <*I7>; Title = T;",
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; TrueValue = <*I7>; FalseValue = <*I0>; DefaultValue = <*I7>;"
        ),
        (
            "Type = PSToggleSwitchSpecifier; Title = T; Key = k; TrueValue = <*BN>; FalseValue = <*BY>; DefaultValue = <*BY>;",
            "Key = k; Type = any; Choices = (<*BN>, <*BY>); ChoiceTitles = (On, Off); Default = <*BY>; Title = T;", nil
        ),
        (
            "Type = PSSliderSpecifier; Title = T; Key = k; MinimumValue = <*R0>; MaximumValue = <*R1.5>; DefaultValue = <*R0.5>;",
            "Key = k; Type = real; Minimum = <*R0>; Maximum = <*R1.5>; Default = <*R0.5>; Title = T;", nil
        ),
        (
            "Type = PSSliderSpecifier; Key = k; MinimumValue = <*R0>; MaximumValue = <*R1.5>; DefaultValue = <*R1>;",
            "Key = k; Type = real; Minimum = <*R0>; Maximum = <*R1.5>; Default = <*R1>;", nil
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; DefaultValue = \"\";",
            "Key = k; Type = string; Default = \"\"; Title = T;", nil
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; IsSecure = <*BY>;",
            "Key = k; Type = string; Title = T; Sensitive = <*BY>;", nil
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; IsSecure = <*BY>; KeyboardType = EmailAddress; DefaultValue = \"\";",
            "Key = k; Type = string; Title = T; Sensitive = <*BY>;",
            "Type = PSTextFieldSpecifier; Title = T; Key = k; IsSecure = <*BY>;"
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; KeyboardType = URL; DefaultValue = \"http://a/\";",
            "Key = k; Type = string; Kind = url; Default = \"http://a/\"; Title = T;", nil
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; KeyboardType = EmailAddress;",
            "Key = k; Type = string; Kind = address; Title = T;", nil
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; KeyboardType = NumberPad; DefaultValue = 12;",
            "Key = k; Type = string; Pattern = \"[0-9]*\"; Default = 12; Title = T;", nil
        ),
        (
            "Type = PSTextFieldSpecifier; Title = T; Key = k; IASKRegex = \"^[a-z]+$\";",
            "Key = k; Type = string; Pattern = \"[a-z]+\"; Title = T;",
            "Type = PSTextFieldSpecifier; Title = T; Key = k;"
        ),
        (
            "Type = IASKTextViewSpecifier; Title = T; Key = k;", "Key = k; Type = string; Title = T;",
            "Type = PSTextFieldSpecifier; Title = T; Key = k;"
        ),
        (
            "Type = PSMultiValueSpecifier; Title = T; Key = k; Values = (<*I0>, <*I1>); Titles = (None, All); DefaultValue = <*I0>;",
            "Key = k; Type = integer; Choices = (<*I0>, <*I1>); ChoiceTitles = (None, All); Default = <*I0>; Title = T;",
            nil
        ),
        (
            "Type = PSMultiValueSpecifier; Title = T; Key = k; Values = (a, b); Titles = (a, b); DefaultValue = b;",
            "Key = k; Type = string; Choices = (a, b); Default = b; Title = T;", nil
        ),
        (
            "Type = PSMultiValueSpecifier; Title = T; Key = k; Values = (a, <*I1>); Titles = (A, One); DefaultValue = a;",
            "Key = k; Type = any; Choices = (a, <*I1>); ChoiceTitles = (A, One); Default = a; Title = T;", nil
        ),
        (
            "Type = PSMultiValueSpecifier; Title = T; Key = k; Values = (<*I0>, <*R0.5>); ShortTitles = (N, H);",
            "Key = k; Type = real; Choices = (<*R0>, <*R0.5>); ChoiceTitles = (N, H); Title = T;",
            "Type = PSMultiValueSpecifier; Title = T; Key = k; Values = (<*R0>, <*R0.5>); Titles = (N, H);"
        ),
        (
            "Type = PSRadioGroupSpecifier; Title = T; Key = k; Values = (a, b); Titles = (A, B); DefaultValue = a;",
            "Key = k; Type = string; Choices = (a, b); ChoiceTitles = (A, B); Default = a; Title = T;",
            "Type = PSMultiValueSpecifier; Title = T; Key = k; Values = (a, b); Titles = (A, B); DefaultValue = a;"
        ),
        (
            "Type = PSTitleValueSpecifier; Title = T; Key = k; DefaultValue = 1.0;",
            "Key = k; Type = string; Default = 1.0; Title = T;",
            "Type = PSTextFieldSpecifier; Title = T; Key = k; DefaultValue = 1.0;"
        ),
        (
            "Type = IASKDatePickerSpecifier; Title = T; Key = k;", "Key = k; Type = date; Title = T;", ""
        ),
    ]

    @Test(arguments: specifiers.indices)
    func `a specifier becomes a setting and is written back`(_ index: Int) throws {
        let row = Self.specifiers[index]
        let bundle = try bundle(["Root.plist": "{ PreferenceSpecifiers = ({ \(row.specifier) }); }"])
        #expect(bundle.findings.filter { !$0.isWarning } == [])
        let schema = try PropertyList(
            parsing: Array("{ Domain = \"com.example.app\"; Settings = ({ \(row.setting) }); }".utf8))
        #expect(bundle.schema == Schema.read(schema).schema)
        let written = bundle.schema.settingsBundle().panes
        let expected = row.written ?? row.specifier
        let specifiers = expected.isEmpty ? "" : "{ \(expected) }"
        #expect(
            written.first?.value
                == (try PropertyList(parsing: Array("{ PreferenceSpecifiers = (\(specifiers)); }".utf8))))
        #expect(written.map(\.name) == ["Root"])
    }

    static let root = """
        {
          Title = App; StringsTable = Root;
          PreferenceSpecifiers = (
            { Type = PSTextFieldSpecifier; Key = name; Title = NAME; },
            { Type = PSGroupSpecifier; Title = LOOK; FooterText = FOOT; },
            { Type = PSMultiValueSpecifier; Key = theme; Title = Theme; Values = (a, b); Titles = (DARK, LIGHT); DefaultValue = a; },
            { Type = PSChildPaneSpecifier; Title = Network; File = Net; }
          );
        }
        """
    static let net = """
        { PreferenceSpecifiers = (
            { Type = PSToggleSwitchSpecifier; Key = on; Title = NAME; DefaultValue = <*BY>; },
            { Type = PSGroupSpecifier; Title = Proxy; },
            { Type = PSTextFieldSpecifier; Key = proxy; Title = Host; } ); }
        """
    static let german = #""NAME" = "Name (de)"; /* the look */ "LOOK" = "Aussehen"; "DARK" = "Dunkel"; "FOOT" = "Fuß";"#

    @Test(arguments: [
        (["de-AT", "de", "en"], ["Name (de)", "Theme", "NAME", "Host"], "Aussehen", ["Dunkel", "LIGHT"]),
        (["fr", "en"], ["Name (en)", "Theme", "NAME", "Host"], "LOOK", ["DARK", "LIGHT"]),
        (["fr"], ["NAME", "Theme", "NAME", "Host"], "LOOK", ["DARK", "LIGHT"]),
    ])
    func `titles are in the user's language, and panes become groups`(
        _ languages: [String], _ titles: [String], _ group: String, _ choices: [String]
    ) throws {
        let bundle = try bundle(
            [
                "Root.plist": Self.root, "Net.plist": Self.net, "de.lproj/Root.strings": Self.german,
                "en.lproj/Root.strings": "NAME = \"Name (en)\";",
            ], languages: languages)
        #expect(lines(bundle) == [])
        #expect(bundle.schema.settings.map(\.title) == titles)
        #expect(bundle.schema.settings.map(\.group) == [nil, group, "Network", "Network › Proxy"])
        #expect(bundle.schema.settings[1].rule.choiceTitles == choices)
        #expect(bundle.schema.title == "App")
        // Written and read again, it is the same.
        let written = bundle.schema.settingsBundle()
        #expect(written.leftOut.count == 0 && written.panes.map(\.name) == ["Root", "Network"])
        #expect(try read(written.panes) == bundle.schema)
    }

    /// Bundles as applications have them: the panes, the keys of the settings, and what is left out.
    static let applications: [(files: [String: String], keys: [String], leftOut: [String])] = [
        (
            [
                "Root.plist": """
                { StringsTable = Root; PreferenceSpecifiers = (
                    { Type = PSGroupSpecifier; Title = ACCOUNT; FooterText = "Takes effect in the next call."; },
                    { Type = PSTextFieldSpecifier; Key = user_name; Title = USER; DefaultValue = ""; IsSecure = <*BN>;
                      KeyboardType = Alphabet; AutocapitalizationType = None; AutocorrectionType = No; },
                    { Type = PSTextFieldSpecifier; Key = user_password; Title = PASSWORD; DefaultValue = "";
                      IsSecure = <*BY>; KeyboardType = EmailAddress; },
                    { Type = PSTextFieldSpecifier; Key = server; Title = Server; DefaultValue = ""; KeyboardType = URL; },
                    { Type = PSTextFieldSpecifier; Key = port; DefaultValue = 5060; KeyboardType = NumberPad; },
                    { Type = PSGroupSpecifier; },
                    { Type = PSChildPaneSpecifier; Title = Codecs; File = Codecs; },
                    { Type = PSChildPaneSpecifier; Title = Network; File = Network; },
                    { Type = PSTitleValueSpecifier; Key = version; Title = Version; DefaultValue = "4.2 (17)"; } ); }
                """,
                "Codecs.plist": """
                { Title = Codecs; PreferenceSpecifiers = (
                    { Type = PSToggleSwitchSpecifier; Key = opus; Title = Opus; DefaultValue = <*BY>; },
                    { Type = PSToggleSwitchSpecifier; Key = speex; Title = Speex; DefaultValue = NO; } ); }
                """,
                "Network.plist": """
                { PreferenceSpecifiers = (
                    { Type = PSToggleSwitchSpecifier; Key = ipv6; TrueValue = <*I1>; FalseValue = <*I2>; DefaultValue = <*BY>; },
                    { Type = PSSliderSpecifier; Key = gain; DefaultValue = <*I0>; MinimumValue = <*I-10>;
                      MaximumValue = <*I10>; MinimumValueImage = "low.png"; },
                    { Type = PSChildPaneSpecifier; Title = Codecs; File = Codecs; } ); }
                """,
            ], ["user_name", "user_password", "server", "port", "opus", "speex", "ipv6", "gain", "version"],
            [
                "Root.plist: :PreferenceSpecifiers:1 AutocapitalizationType and AutocorrectionType are left out",
                "Root.plist: :PreferenceSpecifiers:2 KeyboardType is left out",
                "Root.plist: :PreferenceSpecifiers:3 KeyboardType is left out",
                "Network.plist: :PreferenceSpecifiers:1 MinimumValueImage is left out",
                "Network.plist: :PreferenceSpecifiers:2:File the pane Codecs is already included, and is left out here",
                "Root.plist: :PreferenceSpecifiers:8 is shown read-only on iOS, and can be changed here",
            ]
        ),
        (
            [
                "Root.plist": """
                { ApplicationGroupContainerIdentifier = group.game; PreferenceSpecifiers = (
                    { Type = PSToggleSwitchSpecifier; Key = sound; Title = Sound; DefaultValue = <*BY>; },
                    { Type = PSTextFieldSpecifier; Key = symbols; Title = Symbols; DefaultValue = "$\\"=/!?+"; },
                    { Type = PSRadioGroupSpecifier; Key = level; Title = Level; Values = (<*I0>, <*I1>);
                      Titles = (Easy, Hard); DefaultValue = <*I1>; DisplaySortedByTitle = <*BY>; },
                    { Type = PSMultiValueSpecifier; Key = tiles; Title = Tiles; DefaultValue = ascii;
                      Values = (ascii, 32); Titles = (Text, Pictures); ShortTitles = (T, P); },
                    { Type = PSTitleValueSpecifier; Key = state; DefaultValue = <*I3>; Values = (<*I1>); Titles = (One); },
                    { Type = PSTitleValueSpecifier; Title = "Made by hand"; } ); }
                """
            ], ["sound", "symbols", "level", "tiles", "state"],
            [
                "Root.plist: :ApplicationGroupContainerIdentifier is left out",
                "Root.plist: :PreferenceSpecifiers:2 DisplaySortedByTitle is left out",
                "Root.plist: :PreferenceSpecifiers:3 ShortTitles is left out",
                "Root.plist: :PreferenceSpecifiers:4 is shown read-only on iOS, and can be changed here",
                "Root.plist: :PreferenceSpecifiers:4 Values and Titles are left out",
                "Root.plist: :PreferenceSpecifiers:5 a title without a Key is left out",
            ]
        ),
        (
            [
                "Root.plist": """
                { PreferenceSpecifiers = (
                    { Type = IASKTextViewSpecifier; Key = template; Title = Template; DefaultValue = "- "; },
                    { Type = PSTextFieldSpecifier; Key = mail; KeyboardType = EmailAddress; IASKRegex = "^[^@]+@[^@]+$";
                      IASKPlaceholder = "name@example.org"; },
                    { Type = IASKButtonSpecifier; Key = export; Title = Export; },
                    { Type = IASKOpenURLSpecifier; Title = Help; File = "https://example.org/help"; },
                    { Type = PSMultiValueSpecifier; Key = font; DefaultValue = ""; Values = ("", mono);
                      Titles = (Default, Monospace); IASKSubtitle = { mono = "For code"; }; },
                    { Type = PSToggleSwitchSpecifier; Key = sync; TrueValue = YES; FalseValue = NO; DefaultValue = YES;
                      IASKSubtitle = "Over the network"; },
                    { Type = PSChildPaneSpecifier; Title = Colors; IASKViewControllerClass = ColorsController; },
                    { Type = PSChildPaneSpecifier; Title = Account; File = Account; } ); }
                """,
                "Account.plist": """
                { PreferenceSpecifiers = ({ Type = PSTextFieldSpecifier; Key = "account.name"; Title = Name; }); }
                """,
            ], ["template", "mail", "font", "sync", "account.name"],
            [
                "Root.plist: :PreferenceSpecifiers:1 IASKPlaceholder is left out",
                "Root.plist: :PreferenceSpecifiers:2:Type IASKButtonSpecifier is left out",
                "Root.plist: :PreferenceSpecifiers:3:Type IASKOpenURLSpecifier is left out",
                "Root.plist: :PreferenceSpecifiers:4 IASKSubtitle is left out",
                "Root.plist: :PreferenceSpecifiers:6 a pane without a File is left out",
            ]
        ),
    ]

    @Test(arguments: applications.indices)
    func `the bundle of an application is read, and written back`(_ index: Int) throws {
        let row = Self.applications[index]
        let bundle = try bundle(row.files)
        #expect(bundle.findings.allSatisfy { $0.isWarning })
        #expect(bundle.findings.map { "\($0.file): \($0.path) \($0.text)" } == row.leftOut)
        #expect(bundle.schema.settings.map(\.key) == row.keys)
        let again = try read(bundle.schema.settingsBundle().panes)
        #expect(Set(again.settings.map(\.key)) == Set(row.keys))
        let defaults = { (schema: Schema) in
            Dictionary(uniqueKeysWithValues: schema.settings.map { ($0.key, $0.defaultValue?.plainText) })
        }
        #expect(defaults(again) == defaults(bundle.schema))
    }

    private func read(_ panes: [(name: String, value: PropertyList)]) throws -> Schema {
        let files = Dictionary(uniqueKeysWithValues: panes.map { ("\($0.name).plist", $0.value) })
        return try SettingsBundle(domain: "com.example.app") { name in
            try files[name].map { .bytes(Array(try $0.serialized(as: .binary))) } ?? .missing
        }.schema
    }

    /// Invalid and incomplete bundles, and what is reported.
    static let findings: [(files: [String: String], lines: [String])] = [
        ([:], ["Root.plist:there is no file Root.plist"]),
        (["Root.plist": "{"], ["Root.plist:1:2: "]),
        (["Root.plist": "(a)"], ["Root.plist:1:1: must be a dictionary"]),
        (
            ["Root.plist": "{ a = b; }"],
            ["Root.plist:1:3: warning: :a is left out", "Root.plist:1:1: :PreferenceSpecifiers is missing"]
        ),
        (["Root.plist": "{ PreferenceSpecifiers = x; }"], ["Root.plist:1:3: :PreferenceSpecifiers must be an array"]),
        (
            ["Root.plist": "{ PreferenceSpecifiers = (x); }"],
            ["Root.plist:1:27: :PreferenceSpecifiers:0 must be a dictionary"]
        ),
        (specifier("Title = x;"), ["Root.plist:1:27: :PreferenceSpecifiers:0 Type is missing"]),
        (specifier("Type = (x);"), ["Root.plist:1:29: :PreferenceSpecifiers:0:Type must be a string"]),
        (
            specifier("Type = PSTogleSwitchSpecifier;"),
            [
                "Root.plist:1:29: warning: :PreferenceSpecifiers:0:Type PSTogleSwitchSpecifier is left out; did you mean PSToggleSwitchSpecifier?"
            ]
        ),
        (
            specifier("Type = IASKButtonSpecifier; Key = k;"),
            ["Root.plist:1:29: warning: :PreferenceSpecifiers:0:Type IASKButtonSpecifier is left out"]
        ),
        (specifier("Type = PSTextFieldSpecifier;"), ["Root.plist:1:27: :PreferenceSpecifiers:0 Key is missing"]),
        (
            specifier("Type = PSTextFieldSpecifier; Key = (k);"),
            ["Root.plist:1:58: :PreferenceSpecifiers:0:Key must be a string"]
        ),
        (
            specifier("Type = PSTextFieldSpecifier; Key = k; IsSecure = maybe;"),
            ["Root.plist:1:67: :PreferenceSpecifiers:0:IsSecure must be true or false"]
        ),
        (
            specifier("Type = PSTextFieldSpecifier; Key = k; IsSecure = YES; DefaultValue = hunter2;"),
            [
                "Root.plist:1:83: warning: :PreferenceSpecifiers:0:DefaultValue a secret has no default; it is left out"
            ]
        ),
        (
            specifier(
                "Type = PSTextFieldSpecifier; Key = k; AutocorrectionType = No; SupportedUserInterfaceIdioms = (Pad);"),
            [
                "Root.plist:1:27: warning: :PreferenceSpecifiers:0 AutocorrectionType and SupportedUserInterfaceIdioms are left out"
            ]
        ),
        (
            specifier("Type = PSTextFieldSpecifier; Key = k; KeyboardType = URL; DefaultValue = \"\";"),
            ["Root.plist:1:27: warning: :PreferenceSpecifiers:0 KeyboardType is left out"]
        ),
        (
            specifier("Type = PSTextFieldSpecifier; Key = k; KeyboardType = DecimalPad; IASKSubtitle = { a = b; };"),
            ["Root.plist:1:27: warning: :PreferenceSpecifiers:0 KeyboardType and IASKSubtitle are left out"]
        ),
        (
            specifier("Type = PSTextFieldSpecifier; Key = k; IASKRegex = \"(\";"),
            ["Root.plist:1:67: warning: :PreferenceSpecifiers:0:IASKRegex is left out: "]
        ),
        (
            specifier("Type = PSTextFieldSpecifier; Key = k; DefaultValue = (a);"),
            ["Root.plist:1:67: warning: :PreferenceSpecifiers:0:DefaultValue must be a string; it is left out"]
        ),
        (
            specifier("Type = PSSliderSpecifier; Key = k; MinimumValue = <*R3>; MaximumValue = <*R2>;"),
            ["Root.plist:1:64: :PreferenceSpecifiers:0:MinimumValue is above MaximumValue"]
        ),
        (
            specifier("Type = PSSliderSpecifier; Key = k; MinimumValue = x; MaximumValue = <*Rinf>;"),
            [
                "Root.plist:1:64: :PreferenceSpecifiers:0:MinimumValue must be a number",
                "Root.plist:1:82: :PreferenceSpecifiers:0:MaximumValue must be a finite number",
            ]
        ),
        (
            specifier("Type = PSSliderSpecifier; Key = k; MaximumValue = 1; DefaultValue = <*I18446744073709551615>;"),
            ["Root.plist:1:82: warning: :PreferenceSpecifiers:0:DefaultValue must be at most 1.0; it is left out"]
        ),
        (
            specifier("Type = PSMultiValueSpecifier; Key = k;"),
            ["Root.plist:1:27: :PreferenceSpecifiers:0 Values is missing"]
        ),
        (
            specifier("Type = PSMultiValueSpecifier; Key = k; Values = ();"),
            ["Root.plist:1:68: :PreferenceSpecifiers:0:Values must be an array of values"]
        ),
        (
            specifier("Type = PSMultiValueSpecifier; Key = k; Values = (a); Titles = (A, B);"),
            ["Root.plist:1:82: :PreferenceSpecifiers:0:Titles must have as many elements as Values, 1"]
        ),
        (
            specifier("Type = PSMultiValueSpecifier; Key = k; Values = (a, a); Titles = (A, (B));"),
            ["Root.plist:1:85: :PreferenceSpecifiers:0:Titles must be an array of strings"]
        ),
        (
            specifier("Type = PSMultiValueSpecifier; Key = k; Values = (a, a); Titles = (A, B);"),
            ["Root.plist:1:81: warning: :PreferenceSpecifiers:0:Values:1 a duplicate value is left out"]
        ),
        (
            specifier("Type = PSToggleSwitchSpecifier; Key = k; TrueValue = a; FalseValue = a;"),
            ["Root.plist:1:85: :PreferenceSpecifiers:0:FalseValue must differ from TrueValue"]
        ),
        (
            specifier("Type = PSTitleValueSpecifier; Title = T;"),
            ["Root.plist:1:27: warning: :PreferenceSpecifiers:0 a title without a Key is left out"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; Title = T;"),
            ["Root.plist:1:27: :PreferenceSpecifiers:0 File is missing"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; IASKViewControllerClass = C;"),
            ["Root.plist:1:27: warning: :PreferenceSpecifiers:0 a pane without a File is left out"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; File = \"../../etc/passwd\";"),
            ["Root.plist:1:58: :PreferenceSpecifiers:0:File must be a name without a slash"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; File = \"..\";"),
            ["Root.plist:1:58: :PreferenceSpecifiers:0:File must be a name without a slash"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; File = Gone;"),
            ["Root.plist:1:58: :PreferenceSpecifiers:0:File there is no file Gone.plist"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; File = Root;"),
            ["Root.plist:1:58: :PreferenceSpecifiers:0:File a pane that contains itself: Root → Root"]
        ),
        (
            specifier("Type = PSChildPaneSpecifier; File = A;").merging(
                ["A.plist": "{ PreferenceSpecifiers = ({ Type = PSChildPaneSpecifier; File = Root; }); }"]) { $1 },
            ["A.plist:1:58: :PreferenceSpecifiers:0:File a pane that contains itself: Root → A → Root"]
        ),
        (
            ["Root.plist": "{ PreferenceSpecifiers = (); StringsTable = \"a/b\"; }"],
            ["Root.plist:1:30: :StringsTable must be a name without a slash"]
        ),
        (
            ["Root.plist": "{ PreferenceSpecifiers = (); StringsTable = S; }", "en.lproj/S.strings": "a = ;"],
            ["en.lproj/S.strings:1:5: :a "]
        ),
        (
            ["Root.plist": "{ PreferenceSpecifiers = (); StringsTable = S; }", "en.lproj/S.strings": "(a)"],
            ["en.lproj/S.strings:1:1: must be a dictionary"]
        ),
    ]

    private static func specifier(_ text: String) -> [String: String] {
        ["Root.plist": "{ PreferenceSpecifiers = ({ \(text) }); }"]
    }

    @Test(arguments: findings.indices)
    func `an invalid or omitted part is listed with its position`(_ index: Int) throws {
        let row = Self.findings[index]
        let found = lines(try bundle(row.files, languages: ["en"]))
        #expect(found.count == row.lines.count, "\(found)")
        for (line, start) in zip(found, row.lines) { #expect(line.hasPrefix(start), "\(line)") }
    }

    @Test func `a file that must not be read is refused`() throws {
        let files = Self.specifier("Type = PSChildPaneSpecifier; File = A;")
        let found = try bundle(files, refusing: ["A.plist": "is a symbolic link"])
        #expect(lines(found) == ["Root.plist:1:58: :PreferenceSpecifiers:0:File A.plist is a symbolic link"])
    }

    @Test func `panes are limited in depth and number`() throws {
        func child(_ names: [String]) -> String {
            let rows = names.map { "{ Type = PSChildPaneSpecifier; File = \($0); }" }
            return "{ PreferenceSpecifiers = (\(rows.joined(separator: ", "))); }"
        }
        for (count, isValid) in [(15, true), (16, false)] {
            var files = ["Root.plist": child(["P1"])]
            for index in 1...count { files["P\(index).plist"] = child(index == count ? [] : ["P\(index + 1)"]) }
            #expect(try bundle(files).findings.isEmpty == isValid)
        }
        for (count, isValid) in [(255, true), (256, false)] {
            var files = ["Root.plist": child((1...count).map { "P\($0)" })]
            for index in 1...count { files["P\(index).plist"] = child([]) }
            #expect(try bundle(files).findings.isEmpty == isValid)
        }
    }

    @Test func `parts of a schema that a bundle cannot have are listed`() throws {
        let text = """
            { Domain = d; Summary = s; Settings = (
                { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 9; Flag = keep; Short = k; },
                { Key = port; Type = integer; Default = 80; }, { Key = list; Type = array; },
                { Key = once; Transient = YES; }, { Key = on; Type = boolean; Environment = ON; } );
              Commands = ({ Name = go; }); }
            """
        let (panes, leftOut) = try Schema(parsing: Array(text.utf8)).settingsBundle()
        #expect(
            leftOut == [
                "Summary is left out", "Commands is left out",
                "keep: iOS stores the integer as a real number", "keep: Flag and Short are left out",
                "port: iOS stores the number as text",
                "list: is left out, since a settings bundle has no control for an array",
                "once: is left out, since it is not stored",
                "on: has no Default, which iOS expects of this control", "on: Environment is left out",
            ])
        let keys = panes.first?.value["PreferenceSpecifiers"]?.arrayValue?.compactMap { $0["Key"]?.stringValue }
        #expect(keys == ["keep", "port", "on"])
    }

    /// Tests that random specifiers never trap, and that a valid schema keeps its keys when it is written and read
    /// again.
    @Test func `random bundles are read`() throws {
        var random = SeededGenerator(stream: "settings bundles")
        let values: [PropertyList] = [
            true, false, 0, 1, -1, .integer(PropertyList.Integer(UInt64.max)), 0.5, .real(.nan), .real(-.infinity), "",
            "a", "URL", "NumberPad", "A", "Root", "../x", "YES", [], ["a", "b"], [0, 1], ["a", "a"], [[]], [:],
            ["k": "v"],
        ]
        let names = [
            "Key", "Title", "DefaultValue", "TrueValue", "FalseValue", "MinimumValue", "MaximumValue", "Values",
            "Titles",
            "ShortTitles", "IsSecure", "KeyboardType", "File", "FooterText", "IASKRegex", "IASKSubtitle", "Other",
        ]
        let types = [
            "PSGroupSpecifier", "PSChildPaneSpecifier", "PSTextFieldSpecifier", "PSToggleSwitchSpecifier",
            "PSSliderSpecifier", "PSMultiValueSpecifier", "PSRadioGroupSpecifier", "PSTitleValueSpecifier",
            "IASKDatePickerSpecifier", "IASKTextViewSpecifier", "IASKButtonSpecifier",
        ]
        for round in 0..<500 {
            var files: [String: PropertyList] = [:]
            for pane in ["Root", "A", "a"] {
                let specifiers = (0..<Int.random(in: 0...6, using: &random)).map { index in
                    var entries: PropertyList.Dictionary = [:]
                    entries["Type"] = types.randomElement(using: &random).map { .string($0) }
                    entries["Key"] = .string("\(pane)\(index)")
                    for _ in 0..<Int.random(in: 0...6, using: &random) {
                        entries[names.randomElement(using: &random) ?? ""] = values.randomElement(using: &random)
                    }
                    return PropertyList.dictionary(entries)
                }
                files["\(pane).plist"] = ["PreferenceSpecifiers": .array(specifiers), "StringsTable": "Root"]
            }
            let bundle = try SettingsBundle(domain: "com.example.app", languages: ["en"]) { name in
                .bytes(Array(try (files[name] ?? ["Title": "Titel"]).serialized(as: .binary)))
            }
            guard bundle.findings.allSatisfy(\.isWarning) else { continue }
            #expect(bundle.schema.mistakes == [], "round \(round), \(Seed.ofThisRun)")
            let written = bundle.schema.settingsBundle()
            guard written.leftOut.allSatisfy({ $0.contains("has no Default") }) else { continue }
            let again = try read(written.panes)
            let keys = { (schema: Schema) in Set(schema.settings.map(\.key)) }
            #expect(keys(again) == keys(bundle.schema), "round \(round), \(Seed.ofThisRun)")
        }
    }
}
