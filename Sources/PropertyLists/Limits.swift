extension PropertyList {
    /// The limits of readers and writers, which prevent any input from exhausting memory.
    public struct Limits: Hashable, Sendable {
        /// The maximum nesting depth of containers.
        ///
        /// Reading is not recursive. Writing, comparing, hashing and releasing a value are, and take about one kibibyte
        /// of stack for each level. The default suits a thread with a stack of 512 KiB. Debug builds, and `print` of a
        /// deep value, take more stack.
        public var nesting: Int
        /// The maximum number of bytes to read or write.
        public var inputBytes: Int
        /// The maximum number of values and keys that are read from a binary file, or written in any format. A shared
        /// value is counted at each reference.
        public var expandedNodes: Int
        /// The maximum number of bytes in the values of a binary file, where a shared value is counted at each
        /// reference. Nil means 4 MiB or 1,024 times the size of the file, whichever is greater, and at most 1 GiB.
        public var expandedBytes: Int?

        /// Creates limits.
        public init(
            nesting: Int = 512, inputBytes: Int = 1 << 30, expandedNodes: Int = 10_000_000,
            expandedBytes: Int? = nil
        ) {
            self.nesting = nesting
            self.inputBytes = inputBytes
            self.expandedNodes = expandedNodes
            self.expandedBytes = expandedBytes
        }

        /// The limits for untrusted input and for all output.
        public static let `default` = Limits()

        /// The limits of version 0.1 of this package, which apply to domains and their history.
        package static let ofStore = Limits(expandedBytes: 1 << 30)

        func expandedBytes(ofFile length: Int) -> Int {
            expandedBytes ?? min(max(1 << 22, 1024 * min(length, 1 << 20)), 1 << 30)
        }
    }
}
