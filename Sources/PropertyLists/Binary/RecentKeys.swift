/// The keys of a binary file met lately, by the number of their object.
///
/// Files that hold records name the same few keys over and over: these are decoded once.
struct RecentKeys: ~Copyable {
    struct Key {
        let object: Int
        let text: String
        /// Where the key's bytes lie in the file, if these can be compared in its place.
        let bytes: UnsafeBufferPointer<UInt8>?
        /// The length of the encoded object.
        let length: Int
    }

    private static let count = 128
    private let keys = UnsafeMutablePointer<Key>.allocate(capacity: count)

    init() {
        keys.initialize(repeating: Key(object: -1, text: "", bytes: nil, length: 0), count: Self.count)
    }

    deinit {
        keys.deinitialize(count: Self.count)
        keys.deallocate()
    }

    /// A key, valid until the next is noted.
    @inline(__always)
    subscript(object: Int) -> UnsafePointer<Key>? {
        let key = keys + object & (Self.count - 1)
        return key.pointee.object == object ? UnsafePointer(key) : nil
    }

    @inline(__always)
    mutating func note(_ key: Key) { keys[key.object & (Self.count - 1)] = key }
}
