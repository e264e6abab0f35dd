import Foundation
import PreferencesCoders
import PropertyLists
import Testing

private struct Document: Codable, Equatable {
    var title = "Untitled"
}

// What the page on the coders shows: the declarations for a whole module.
typealias JSONEncoder = PreferencesCoders.JSONEncoder
typealias PropertyListEncoder = PreferencesCoders.PropertyListEncoder

@Suite struct `The page on the coders` {
    @Test func `is correct`() throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let letter = try encoder.encode(Document(title: "Letter"))
        #expect(try Foundation.PropertyListDecoder().decode(Document.self, from: letter).title == "Letter")
        let reader = PreferencesCoders.JSONDecoder()
        let written = try JSONEncoder().encode(["number": Int128.max])
        #expect(try reader.decode([String: Int128].self, from: written) == ["number": .max])
    }
}
