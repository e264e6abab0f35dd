import Preferences
import Testing

@testable import ExampleNotes

/// The tests of the example program, as its author would write them.
@Suite struct `A notebook` {
    /// A notebook in a store of its own.
    private func notebook() -> Notebook { Notebook(settings: Settings(Defaults(Notebook.domain, in: .memory()))) }

    @Test func `keeps notes, each title once`() throws {
        let notebook = notebook()
        try notebook.add(Note(title: "Letter", tags: ["home"]))
        try notebook.add(Note(title: "Bill"))
        #expect(throws: Notebook.Duplicate.self) { try notebook.add(Note(title: "Letter")) }
        #expect(notebook.lines == ["Letter #home", "Bill"])
        notebook.settings.order = .title
        #expect(notebook.lines == ["Bill", "Letter #home"])
    }

    @Test func `reads the file that another one has written`() throws {
        let (first, second) = (notebook(), notebook())
        try first.add(Note(title: "Letter", tags: ["home"]))
        try second.replace(with: first.exported())
        #expect(second.settings.notes == first.settings.notes)
    }

    @Test func `takes the values of a command line`() throws {
        let store = Store.memory()
        let (settings, command) = try Notebook.program.parse(
            ["notes", "add", "Letter", "-t", "a", "-t", "b", "-w", "30"], in: store)
        guard case .add(let new) = command else {
            Issue.record("another command: \(command)")
            return
        }
        #expect(new.text == "Letter" && new.tags == ["a", "b"] && settings.width == 30)
        try Notebook.program.validate()
        let ending = #expect(throws: Schema.EarlyExit.self) {
            try Notebook.program.parse(["notes", "add"], in: .memory())
        }
        #expect(ending?.description == "TEXT is required")
    }

    @Test func `reports the number of notes after each change`() async throws {
        let notebook = notebook()
        var counts: [Int] = []
        for await count in notebook.counts {
            counts.append(count)
            if count == 2 { break }
            try notebook.add(Note(title: "Note \(count)"))
        }
        #expect(counts == [0, 1, 2])
    }
}
