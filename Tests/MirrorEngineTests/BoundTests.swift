import Testing

@testable import MirrorEngine

@Suite struct `A path that shares all but a few bytes with the one before` {
    @Test func `is counted with all of its bytes, so that a short file cannot exhaust the memory`() throws {
        let long = Path(["domain"] + Array(repeating: String(repeating: "k", count: 1000), count: 500))
        var bytes: [UInt8] = []
        bytes.append(long.appending("x"), after: long)
        #expect(bytes.count < 10)
        var (budget, count) = (DecodedPathBudget(), 0)
        let fault = #expect(throws: PackFault.self) {
            while true {
                var reader = ByteReader(bytes)
                _ = try reader.path(after: long, &budget)
                count += 1
            }
        }
        #expect(fault == .beyondLimit("bytes of all paths"))
        #expect(count == DecodedPathBudget.mostBytes / long.appending("x").bytes.count)
    }
}

@Suite struct `A span of time` {
    /// The stored values next to the state may be arbitrary.
    @Test(arguments: [Int64.min, -1, 0, 1_800_000_000_000, .max])
    func `is compared with any two times`(_ start: Int64) {
        #expect(start.isWithin(5, of: start))
        #expect(!(start &+ 10).isWithin(5, of: start) && !(start &- 10).isWithin(5, of: start))
    }
}
