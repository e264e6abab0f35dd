import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A change of another host, which `undo` would revert on all hosts.
@Suite struct `A change that a mirror brought` {
    private let pair: MirrorPair

    init() throws { pair = try MirrorPair() }

    private func undo(_ words: [String]) throws -> Transcript.Outcome {
        try runPrefs(["prefs", "undo"] + words, on: pair.machine)
    }

    private func theme() throws -> String { try pair.desk("read", "com.example.editor", "theme").output }

    private static let origin = "its last change came from laptop, through a mirror; --mirrored undoes it on all hosts"

    /// What the laptop does, the undo on the desk, and its message.
    @Test(
        arguments: [
            (["write com.example.editor theme blue"], "com.example.editor", origin),
            (["write com.example.editor theme blue"], "--transaction com.example.editor", origin),
            (["write com.example.editor theme blue"], "--transaction --partial com.example.editor", origin),
            (["write com.example.editor theme blue"], "--force com.example.editor", origin),
            (["delete com.example.editor theme"], "com.example.editor", origin),
            (["write com.example.editor size 1"], "com.example.editor", origin),
            (["write com.example.editor :size:width 1"], "com.example.editor", origin),
            (
                ["write com.example.editor theme blue"], "com.example.editor 2",
                "one of its last 2 changes came from laptop, through a mirror; --mirrored undoes it on all hosts"
            ),
        ] as [([String], String, String)])
    func `is undone only with --mirrored`(_ changes: [String], _ words: String, _ message: String) throws {
        for line in changes { _ = try pair.machine.run("prefs --store /home/ada/b \(line)") }
        try pair.comeToRest()
        let before = try pair.desk("export", "--format", "json", "com.example.editor", "-").output
        let refusal = try undo(words.words)
        #expect(refusal.status == 8, "\(refusal)")
        #expect(refusal.errors.contains("com.example.editor: \(message); nothing was changed"), "\(refusal)")
        #expect(try pair.desk("export", "--format", "json", "com.example.editor", "-").output == before)
        let undone = try undo(["--mirrored"] + words.words)
        #expect(undone.status == 0, "\(undone)")
        try pair.comeToRest()
        let after = words.hasSuffix("2") ? "" : "dark\n"
        #expect(try theme() == after && pair.laptop("read", "com.example.editor", "theme").output == after)
        #expect(try pair.laptop("read", "com.example.editor", "size").status == 1)
    }

    @Test func `does not concern the undo of a later change here`() throws {
        try pair.laptop("write", "com.example.editor", "theme", "blue")
        try pair.comeToRest()
        try pair.desk("write", "com.example.editor", "theme", "red")
        #expect(try undo(["com.example.editor"]).status == 0)
        #expect(try theme() == "blue\n")
        #expect(try undo(["com.example.editor"]).status == 8)
    }

    @Test func `is found in a large domain, whose versions are the replaced files`() throws {
        try pair.desk("write", "com.example.editor", "large", String(repeating: "x", count: 1 << 20))
        try pair.comeToRest()
        try pair.laptop("write", "com.example.editor", "theme", "blue")
        try pair.comeToRest()
        let refusal = try undo(["com.example.editor"])
        #expect(refusal.status == 8 && refusal.errors.contains(Self.origin), "\(refusal)")
        #expect(try undo(["--mirrored", "com.example.editor"]).status == 0)
        #expect(try theme() == "dark\n")
        try pair.desk("write", "com.example.editor", "theme", "red")
        #expect(try undo(["com.example.editor"]).status == 0)
    }

    @Test func `is undone in all domains that it changed, and nothing is without --mirrored`() throws {
        for (value, host) in [("1", "desk"), ("2", "laptop")] {
            let text = "{ \"com.example.a\" = { k = \(value); }; \"com.example.b\" = { k = \(value); }; }"
            try pair.machine.fileSystem.replace("/home/ada/all", with: Array(text.utf8))
            let words = ["apply", "--domains", "/home/ada/all"]
            let store = host == "desk" ? [] : ["--store", "/home/ada/b"]
            #expect(try runPrefs(["prefs"] + store + words, on: pair.machine).status == 0)
            try pair.comeToRest()
        }
        let refusal = try undo(["--transaction", "com.example.a"])
        #expect(refusal.status == 8)
        for domain in ["com.example.a", "com.example.b"] {
            #expect(refusal.errors.contains("\(domain): \(Self.origin)"), "\(refusal)")
            #expect(try pair.desk("read", domain, "k").output == "2\n")
        }
        #expect(try undo(["--transaction", "--mirrored", "com.example.a"]).status == 0)
        try pair.comeToRest()
        for domain in ["com.example.a", "com.example.b"] {
            #expect(try pair.laptop("read", domain, "k").output == "1\n")
        }
    }

    @Test func `has its host in its version, also if the mirror was forgotten`() throws {
        try pair.laptop("write", "com.example.editor", "theme", "blue")
        try pair.comeToRest()
        try pair.desk("mirror", "detach")
        #expect(try undo(["com.example.editor"]).errors.contains("its last change came from laptop"))
    }
}

extension String {
    fileprivate var words: [String] { split(separator: " ").map(String.init) }
}
