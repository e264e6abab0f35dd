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
        /// How many values and keys a binary file may contain, and how many are written in any format. A shared value
        /// is counted each time it is referred to.
        public var expandedNodes: Int
        /// How many bytes the values of a binary file may take, read or written, if each shared value is counted each
        /// time it is referred to; nil for 4 MiB or 1,024 times the size of the file, whichever is more, and at most
        /// 1 GiB.
        public var expandedBytes: Int?

        /// Sets bounds of one's own.
        public init(
            nesting: Int = 512, inputBytes: Int = 1 << 30, expandedNodes: Int = 10_000_000,
            expandedBytes: Int? = nil
        ) {
            self.nesting = nesting
            self.inputBytes = inputBytes
            self.expandedNodes = expandedNodes
            self.expandedBytes = expandedBytes
        }

        /// The limits for input from elsewhere and for everything that is written.
        public static let `default` = Limits()

        /// The limits of version 0.1 of this package, up to which domains and their history are read.
        package static let ofStore = Limits(expandedBytes: 1 << 30)

        func expandedBytes(ofFile length: Int) -> Int {
            expandedBytes ?? min(max(1 << 22, 1024 * min(length, 1 << 20)), 1 << 30)
        }
    }
}
