internal import Platform
internal import PropertyLists

/// The systemd unit that watches a store's mirrors.
struct MirrorUnit {
    let name: String
    private let words: [String]

    /// Creates the unit.
    ///
    /// - Parameter store: The folder of the store; nil for the default one.
    init(_ program: String, _ store: FilePath?) {
        name = "prefs-mirror" + (store.map { "-" + Self.escapedPath($0) } ?? "")
        words = [program] + Option.words(naming: store?.word) + ["mirror"]
    }

    /// Returns a path escaped as by `systemd-escape`, so that different paths have different unit names.
    private static func escapedPath(_ path: FilePath) -> String {
        path.bytes.drop { $0 == UInt8(ascii: "/") }.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if character == "/" { return "-" }
            let isPlain = character.isASCII && (character.isLetter || character.isNumber) || "_.:".contains(character)
            return isPlain ? String(character) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The text of the unit file.
    var text: String {
        """
        [Unit]
        Description=Settings mirrored between hosts
        Documentation=man:prefs-mirror(1)

        [Service]
        ExecStart=\((words + ["watch"]).map(Self.escaped).joined(separator: " "))
        Restart=on-failure
        RestartSec=10
        Nice=5
        IOSchedulingClass=idle

        [Install]
        WantedBy=default.target

        """
    }

    /// Returns a word quoted for a unit file, without specifiers and variables.
    private static func escaped(_ word: String) -> String {
        var text = word
        for (character, escape) in [
            ("\\", "\\\\"), ("\"", "\\\""), ("%", "%%"), ("$", "$$"), ("\n", "\\n"), ("\t", "\\t"),
        ] { text = text.replacing(character, with: escape) }
        // The unit file is read as text.
        text = text.shown
        return text == word && !word.contains(where: { " '".contains($0) }) ? word : "\"\(text)\""
    }

    /// The command for a crontab, in which a percent sign would end the line.
    var cronCommand: String { ShellWord.line(words + ["sync"]).replacing("%", with: "\\%") }
}
