import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases")
    static let files = CorpusCase.all(in: folder)
    static let cases = files.cases

    @Test func `every file of the corpus is a valid case`() {
        #expect(Self.files.mistakes == [])
        #expect(Self.cases.count > 1000)
    }

    @Test(arguments: cases)
    func `an input is read as its case states`(_ row: CorpusCase) {
        let result = Result { () throws(DecodingFailure) in
            try PropertyList(parsing: row.input, as: row.format, limits: row.limits, options: row.options)
        }
        switch (row.outcome, result) {
        case (.value(let expected), .success(let value)): #expect(value == expected)
        case (.value, .failure(let failure)):
            Issue.record("refused: \(failure) [\(failure.problem.notation)]")
        case (.failure(let problem, _, _), .success(let value)):
            Issue.record("expected \(problem), read \(value)")
        case (.failure(let problem, let offset, let path), .failure(let failure)):
            let plain = failure.problem.inAnySyntax
            let found = problem.contains("(") ? plain.notation : plain.name
            #expect("\(found) at \(failure.offset) in \(failure.path)" == "\(problem) at \(offset) in \(path)")
            if let format = row.format { #expect(failure.format == format) }
        }
    }

    @Test(arguments: cases.filter { $0.location != nil })
    func `a failure in a text has line and column`(_ row: CorpusCase) {
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: row.input, as: row.format, limits: row.limits, options: row.options)
        }
        let location = failure?.location(in: row.input)
        #expect(location?.line == row.location?.line)
        #expect(location?.column == row.location?.column)
    }

    @Test(arguments: cases)
    func `a truncated input is read or rejected without a trap`(_ row: CorpusCase) {
        guard row.input.count < 600 else { return }
        for count in 0..<row.input.count {
            let head = Data(row.input.prefix(count))
            _ = try? PropertyList(parsing: head, as: row.format, limits: row.limits, options: row.options)
            let tail = Data(row.input.suffix(count))
            _ = try? PropertyList(parsing: tail, as: row.format, limits: row.limits, options: row.options)
        }
    }

    @Test(arguments: cases)
    func `an input has the same result in every kind of buffer`(_ row: CorpusCase) {
        let read = { (bytes: any Sequence<UInt8>) in
            Result { () throws(DecodingFailure) in
                try PropertyList(parsing: bytes, as: row.format, limits: row.limits, options: row.options)
            }
        }
        let usual = read(row.input)
        #expect(read(Array(row.input)) == usual)
        #expect(read((Data([0x5B]) + row.input + Data([0x5D])).dropFirst().dropLast()) == usual)
        #expect(read(AnySequence(row.input)) == usual)
    }

    @Test(arguments: cases.filter { $0.format == .binary && !$0.options.refusesDuplicateKeys })
    func `the lazy view of a binary file agrees with the reader`(_ row: CorpusCase) {
        let viewed = Result { try BinaryPropertyList(parsing: row.input, limits: row.limits).root }
        switch (row.outcome, viewed) {
        case (.value(let expected), .success(let value)): #expect(value == expected)
        case (.value, .failure(let failure)): Issue.record("refused: \(failure)")
        // The offset of an unreferenced object is not checked.
        case (.failure(let problem, _, _), .success): #expect(problem.hasPrefix("invalidOffset"))
        // It reaches the error in another order, and so reports another place.
        case (.failure(let problem, _, _), .failure(let failure as DecodingFailure)):
            #expect((problem.contains("(") ? failure.problem.notation : failure.problem.name) == problem)
        case (.failure, .failure(let error)): Issue.record("another error: \(error)")
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["PREFS_MATERIALIZE"] != nil))
    func `the raw inputs are written out as seeds`() throws {
        let target = URL(filePath: ProcessInfo.processInfo.environment["PREFS_MATERIALIZE"] ?? "")
        for row in Self.cases {
            let parts = row.name.split(separator: "/")
            let folder = target.appending(path: String(parts[0]))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try row.input.write(to: folder.appending(path: parts.dropFirst().joined(separator: "-")))
        }
    }
}

extension DecodingFailure.Problem {
    /// The problem itself, if another syntax of JSON does not have it.
    fileprivate var inAnySyntax: Self {
        if case .onlyIn(_, let problem) = self { problem } else { self }
    }
}
