internal import Synchronization

/// A value too long for a pack. Its bytes are in memory until a store keeps them, and are then read when needed.
package final class LongValue: Sendable {
    /// The length of the encoding in bytes.
    package let size: Int
    /// The first bytes, which show whether the value is a dictionary.
    let beginning: [UInt8]
    private let place: Mutex<Place>

    package static let lengthOfBeginning = 2

    private struct Place {
        /// The name, or nil until it is needed, because it takes a hash of all bytes.
        var name: BlobName?
        /// The bytes, or nil once a store keeps them.
        var bytes: [UInt8]?
        var store: (any LongValueStore)?
    }

    init(_ bytes: [UInt8]) {
        (size, beginning) = (bytes.count, Array(bytes.prefix(Self.lengthOfBeginning)))
        place = Mutex(Place(bytes: bytes))
    }

    /// A value that a store keeps.
    package init(_ reference: BlobReference, beginning: [UInt8], in store: any LongValueStore) {
        (size, self.beginning) = (reference.size, beginning)
        place = Mutex(Place(name: reference.name, store: store))
    }

    package var name: BlobName {
        place.withLock { place in
            let name = place.name ?? BlobName(hash: ContentHash(of: place.bytes ?? []))
            place.name = name
            return name
        }
    }

    package var reference: BlobReference { BlobReference(name: name, size: size) }

    /// The encoding of the value, which is empty if it cannot be read.
    var bytes: [UInt8] {
        let (bytes, store) = place.withLock { ($0.bytes, $0.store) }
        return bytes ?? store?.bytes(of: reference) ?? []
    }

    /// Stores the bytes, and then releases them. Returns whether the store has them.
    @discardableResult
    package func store(in store: any LongValueStore) -> Bool {
        guard let bytes = place.withLock({ $0.bytes }) else { return store.contains(reference) }
        guard store.store(bytes, as: name) else { return false }
        place.withLock { ($0.bytes, $0.store) = (nil, store) }
        return true
    }
}

extension LongValue: Hashable {
    package static func == (left: LongValue, right: LongValue) -> Bool {
        left === right || left.size == right.size && left.beginning == right.beginning && left.name == right.name
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(size) }
}

/// A place for long values outside of memory.
package protocol LongValueStore: AnyObject, Sendable {
    func contains(_ reference: BlobReference) -> Bool
    /// Returns a value that this store keeps. Returns nil if it cannot be read, and remembers that.
    func bytes(of reference: BlobReference) -> [UInt8]?
    /// Stores a value durably. Returns false if that is not possible now.
    func store(_ bytes: [UInt8], as name: BlobName) -> Bool
}
