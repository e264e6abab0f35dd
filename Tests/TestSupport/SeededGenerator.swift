import Foundation

/// The seed of all random numbers in a test run: `PREFS_TEST_SEED`, or a random one.
package struct Seed: Sendable, CustomStringConvertible {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    package static let ofThisRun = Seed(
        number: ProcessInfo.processInfo.environment["PREFS_TEST_SEED"].flatMap { UInt64($0) }
            ?? .random(in: .min ... .max))

    /// The variable that repeats a failure.
    package var description: String { "PREFS_TEST_SEED=\(number)" }
}

/// A generator that returns the same numbers for the same seed and stream (xoshiro256**).
///
/// Each test uses a stream of its own, so that it does not depend on which tests ran before it.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    package init(seed: Seed = .ofThisRun, stream: String, round: Int = 0) {
        var mixer = seed.number
        for byte in stream.utf8 { mixer = (mixer ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        mixer = mixer &+ UInt64(truncatingIfNeeded: round) &* 0x9E37_79B9_7F4A_7C15
        /// SplitMix64, which never makes the state all zero.
        func next() -> UInt64 {
            mixer &+= 0x9E37_79B9_7F4A_7C15
            var word = mixer
            word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return word ^ word >> 31
        }
        state = (next(), next(), next(), next())
    }

    package mutating func next() -> UInt64 {
        func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
        let result = rotated(state.1 &* 5, 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = rotated(state.3, 45)
        return result
    }
}
