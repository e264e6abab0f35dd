import FoundationEssentials
import PropertyLists
import TestSupport
import Testing

struct OpenStepHostileTests {
    private static let documents = [
        "{ a = (b, \"c d\", <0123 45>); \"e\\n\" = { f; }; }", "k = v; \"l\" = 'm'; n;", "// x\n( /* y */ {}, () )",
        "{ i = <*I-42>; r = <*R1.5e3>; b = <*BY>; d = <*D2001-02-03 04:05:06 +0100 0.5>; x = <[aGVsbG8=]>; }",
        "(\"\\Ud83d\\Ude00\\341\\101\", \"naïve 日本語 😀\", {CF$UID = <*I7>;})", "<*D-4000-02-03 04:05:06 +0000>",
    ]
    /// Texts that are inserted into documents to make them invalid.
    private static let pieces: [[UInt8]] =
        [
            "{", "}", "(", ")", "<", ">", "<*", "<[", "]>", "\"", "'", "\\", "\\U", "\\Ud8", "=", ";", ",", "/*", "*/",
            "//",
            "\0", "é", "\u{2028}", "99999999999999999999", "-", "nan", "CF$UID", " ", "\n",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xEF, 0xBB, 0xBF], [0xFE, 0xFF]]

    @Test(arguments: [UInt64.random(in: .min ... .max), 1])
    func `a broken document is read or rejected, and what is read is written unchanged`(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        for round in 0..<4000 {
            var bytes = Array(Self.documents.randomElement(using: &random)!.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, &random) }
            for format in [PropertyList.Format.openstep, .gnustep] {
                check(bytes, format, "seed \(seed), round \(round)")
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let at = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.insert(contentsOf: Self.pieces.randomElement(using: &random)!, at: at)
        case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 0...4, using: &random)))
        case 2: bytes.removeSubrange(at...)
        case 3: if at < bytes.count { bytes[at] = .random(in: 0...255, using: &random) }
        default: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 9)], at: at)
        }
    }

    private func check(_ bytes: [UInt8], _ format: PropertyList.Format, _ origin: String) {
        let value: PropertyList
        do throws(DecodingFailure) {
            value = try PropertyList(parsing: bytes, as: format)
        } catch {
            #expect((0...bytes.count).contains(error.offset), "\(origin): \(bytes)")
            return
        }
        do {
            for escapes in [false, true] {
                var options = PropertyList.WritingOptions.default
                options.escapesNonASCII = escapes
                let written = try value.serialized(as: .gnustep, options: options)
                #expect(try PropertyList(parsing: written, as: .gnustep) == value, "\(origin): \(bytes)")
            }
        } catch {
            Issue.record("\(origin): \(error): \(bytes)")
        }
    }

    @Test func `a truncated document is read or rejected`() {
        for document in Self.documents {
            let bytes = Array(document.utf8)
            for end in bytes.indices { check(Array(bytes[..<end]), .gnustep, "cut at \(end)") }
        }
    }

    @Test(arguments: [("(", "x", ")"), ("{a=", "x", ";}")])
    func `the deepest nesting fits a small stack`(opening: String, core: String, closing: String) throws {
        let text = String(repeating: opening, count: 512) + core + String(repeating: closing, count: 512)
        let isSame = try SmallThread.run(stackSize: SmallThread.stackSizeForWriting) {
            guard let value = try? PropertyList(parsing: text, as: .openstep),
                let written = try? value.serialized(as: .openstep),
                let again = try? PropertyList(parsing: written, as: .openstep).serialized(as: .openstep)
            else { return false }
            return written == again
        }
        #expect(isSame)
    }

    @Test(arguments: ["(", "{a=", "a=(", "\"", "/*", "<", "<*", "<[", "\\", "\"\\U"])
    func `a long run of openings fails early`(piece: String) {
        let text = String(repeating: piece, count: 1_000_000)
        _ = try? PropertyList(parsing: text, as: .gnustep)
    }
}

/// A small random generator whose state is its seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
