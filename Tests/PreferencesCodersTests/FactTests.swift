import TestSupport
import Testing

/// What Foundation's tests of its coders expect, checked with the coders of this package.
@Suite struct `The facts of Foundation's coders` {
    @Test func `about JSON hold, except for those in the article`() throws {
        let coding = [
            JSONCodingFacts.emptyAndSingle, JSONCodingFacts.structured, JSONCodingFacts.datesAndBytes,
            JSONCodingFacts.floats, JSONCodingFacts.keys, JSONCodingFacts.encoderState, JSONCodingFacts.decoderState,
            JSONCodingFacts.strings, JSONCodingFacts.fragments,
        ]
        let text = [
            JSONNumberFacts.whole, JSONNumberFacts.decimal, JSONInputFacts.text, JSONInputFacts.types,
            JSONOutputFacts.containers, JSONOutputFacts.sorted, JSONOutputFacts.strategies, JSONKeyFacts.keys,
            JSON5Facts.relaxed, JSONDocumentFacts.documents, JSON5SpecificationFacts.specification,
        ]
        let problems = try ListedDifferences(suite: "JSONEncoderTests").problems(with: (coding + text).flatMap(\.self))
        #expect(problems == [])
    }

    @Test func `about property lists hold, except for those in the article`() throws {
        let facts = [
            ValueFacts.all, NumberFacts.all, CoderFacts.all, XMLFacts.documents, XMLFacts.contents, DateFacts.all,
            OldStyleFacts.all, BinaryFacts.all,
        ]
        let problems = try ListedDifferences(suite: "PropertyListEncoderTests").problems(with: facts.flatMap(\.self))
        #expect(problems == [])
    }

    @Test func `about Foundation's types hold, except for those in the article`() throws {
        #expect(
            try ListedDifferences(suite: "TestCodable").problems(
                with: FoundationTypeFacts.codable + FoundationTypeFacts.geometry) == [])
    }
}
