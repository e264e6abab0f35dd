import Foundation
import PropertyLists
import TestSupport
import Testing

/// Null, which only JSON and binary files have.
@Suite struct NullTests {
    static let value: PropertyList = ["a": [.null, 1], "b": .null, "c": ["d": .null]]

    @Test(arguments: [PropertyList.Format.json, .binary])
    func `is kept`(_ format: PropertyList.Format) throws {
        let bytes = try Self.value.serialized(as: format)
        #expect(try PropertyList(parsing: bytes, as: format) == Self.value)
        #expect(try PropertyList(parsing: PropertyList.null.serialized(as: format), as: format) == .null)
        let refusing = PropertyList.ReadingOptions(nulls: .refused)
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: bytes, as: format, options: refusing)
        }
        #expect(failure?.problem == .null)
    }

    @Test(arguments: [PropertyList.Format.xml, .openstep, .gnustep])
    func `is refused with its path`(_ format: PropertyList.Format) {
        var options = PropertyList.WritingOptions()
        options.coerces = true
        let failure = #expect(throws: EncodingFailure.self) { try Self.value.serialized(as: format, options: options) }
        #expect(failure?.problem == .kindNotSupported(.null))
        #expect(failure?.path == ["a", 0])
    }

    @Test func `is left out of dictionaries only`() {
        #expect(Self.value.withoutNullEntries == ["a": [.null, 1], "c": [:]])
        #expect(Self.value.pathToNull == ["a", 0])
    }
}
