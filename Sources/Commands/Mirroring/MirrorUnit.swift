internal import Platform

/// What starts the watching of a store's mirrors by itself.
struct MirrorUnit {
    let name: String
    private let words: [String]

    /// - Parameter store: The folder of a store that is not the user's own one.
    init(_ program: String, _ store: FilePath?) {
        name = "prefs-mirror" + (store.map { "-" + Self.escapedPath($0) } ?? "")
        words = [program] + Option.words(naming: store?.description) + ["mirror"]
    }

    /// A path in the name of a unit, as systemd writes it: no two are the same.
    private static func escapedPath(_ path: FilePath) -> String {
        path.bytes.drop { $0 == UInt8(ascii: "/") }.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if character == "/" { return "-" }
            let isPlain = character.isASCII && (character.isLetter || character.isNumber) || "_.:".contains(character)
            return isPlain ? String(character) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The unit of systemd.
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

    /// As systemd wants a word: in quotes, with nothing in it that stands for something else.
    private static func escaped(_ word: String) -> String {
        var text = word
        for (character, escape) in [
            ("\\", "\\\\"), ("\"", "\\\""), ("%", "%%"), ("$", "$$"), ("\n", "\\n"), ("\t", "\\t"),
        ] { text = text.replacing(character, with: escape) }
        return text == word && !word.contains(where: { " '".contains($0) }) ? word : "\"\(text)\""
    }

    /// A percent sign ends a line of a crontab.
    var cronCommand: String { ShellWord.line(words + ["sync"]).replacing("%", with: "\\%") }
}
