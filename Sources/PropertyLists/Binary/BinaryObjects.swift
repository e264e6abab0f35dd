/// How much a value is when each shared part is counted wherever it is met.
struct ExpandedSize {
    var nodes = 1
    var bytes: Int
    /// How many containers stand inside one another.
    var height = 0

    @inline(__always)
    mutating func add(_ other: ExpandedSize) {
        nodes = Self.sum(nodes, other.nodes)
        bytes = Self.sum(bytes, other.bytes)
        height = max(height, other.height + 1)
    }

    /// Adds a part that has none in it.
    @inline(__always)
    mutating func addLeaf(bytes: Int) {
        nodes = Self.sum(nodes, 1)
        self.bytes = Self.sum(self.bytes, bytes)
        height = max(height, 1)
    }

    @inline(__always)
    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}

/// What a reader knows of an object; from `firstKept` on the states are places among the kept ones.
enum ObjectState {
    static let new: UInt32 = 0
    static let met: UInt32 = 1
    static let open: UInt32 = 2
    static let firstKept: UInt32 = 3
}

struct KeptObject {
    let value: PropertyList
    let size: ExpandedSize
}

/// A container whose children are being read.
struct BinaryFrame {
    var object = 0
    var isDictionary = false
    /// Whether it was read before, so that its value is to be kept now.
    var isAgain = false
    /// Where the references to the children that remain stand.
    var references = 0
    var remaining = 0
    var size = ExpandedSize(bytes: 0)
}
