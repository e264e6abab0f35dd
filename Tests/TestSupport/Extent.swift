import Foundation

/// The extent of the tests: a sample that differs between runs, or everything with `PREFS_PROOFS=full`.
///
/// `Tests/run all` tries everything.
package enum Extent {
    package static let isFull = ProcessInfo.processInfo.environment["PREFS_PROOFS"] == "full"

    /// Returns everything in a full run, otherwise a random sample.
    package static func sample<Element>(_ count: Int, of all: [Element]) -> [Element] {
        var random = SeededGenerator(stream: "sample")
        return isFull ? all : Array(all.shuffled(using: &random).prefix(count))
    }

    /// The operations to interrupt, from 1: every one, or every `step`-th from a random first one.
    package static func operations(every step: Int, stream: String) -> StrideTo<Int> {
        var random = SeededGenerator(stream: stream)
        return isFull
            ? stride(from: 1, to: .max, by: 1)
            : stride(from: .random(in: 1...step, using: &random), to: .max, by: step)
    }
}
