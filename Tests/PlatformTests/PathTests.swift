import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `A path` {
    @Test(
        arguments: [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/", "/", nil), ("a", ".", "a"), ("a/b/", "a", "b"),
            ("//a//b", "//a", "b"), ("/a/..", "/a", nil), (".", ".", nil), ("///", "/", nil),
        ] as [(String, String, String?)])
    func `has a parent and a last component`(_ text: String, _ parent: String, _ last: String?) throws {
        let path = try present(FilePath(text))
        #expect(path.parent.description == parent)
        #expect(path.lastComponent?.description == last)
    }

    @Test func `is neither empty nor has a NUL`() {
        for text in ["", "a\0b", "\0"] { #expect(FilePath(text) == nil) }
        #expect(FilePath([0x2F, 0xFF])?.bytes == [0x2F, 0xFF])
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("/a/b/", "/a/b"), ("//a//b//", "/a/b"), ("/a/./b/.", "/a/b"), ("/", "/"), ("/.", "/"),
        ("./a", "a"), (".", "."), ("/a/../b", "/a/../b"), ("/a/.b/", "/a/.b"),
    ])
    func `has one normalized spelling`(_ text: String, _ normalized: String) throws {
        #expect(try present(FilePath(text)).normalized.description == normalized)
    }

    @Test func `is joined with one separator`() {
        #expect(FilePath.root.appending("a").description == "/a")
        #expect(("/a" as FilePath).appending("b").description == "/a/b")
        #expect(("/a" as FilePath).resolving("b/c").description == "/a/b/c")
        #expect(("/a" as FilePath).resolving("/b").description == "/b")
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "../../evil", "a\0"])
    func `rejects a name that leads elsewhere`(_ text: String) { #expect(FileName(text) == nil) }

    @Test func `distinguishes temporary names from others`() {
        #expect(FileName.temporary(0).description == ".prefs-0000000000000000")
        #expect(FileName.temporary(.max).isTemporary)
        for name: FileName in [".prefs-", ".prefs-00000000000000000", ".prefs-000000000000000G", "a"] {
            #expect(!name.isTemporary)
        }
    }
}
