extension PropertyList {
    /// What a reader or writer refuses to go beyond, so that no input can exhaust the machine.
    public struct Limits: Hashable, Sendable {
        /// How deep containers may stand inside one another.
        ///
        /// Reading and writing takes no stack for depth. Comparing, hashing and releasing a value does, about a
        /// kibibyte a level: the default suits a thread of 512 KiB. Swift's own `print` of a deep value takes more.
        public var nesting: Int
        /// How many bytes are read.
        public var inputBytes: Int
        /// How many values a binary file may stand for, where shared ones count each time they are met.
        public var expandedNodes: Int
        /// How many bytes those values would take if each were written where it is met.
        public var expandedBytes: Int

        /// Sets bounds of one's own.
        public init(
            nesting: Int = 512, inputBytes: Int = 1 << 30, expandedNodes: Int = 10_000_000,
            expandedBytes: Int = 1 << 30
        ) {
            self.nesting = nesting
            self.inputBytes = inputBytes
            self.expandedNodes = expandedNodes
            self.expandedBytes = expandedBytes
        }

        /// What holds where nothing else is asked for.
        public static let `default` = Limits()
    }
}
