// Unsafe: the bytes of a path are lent to the hasher for one call.
internal import PropertyLists

/// The location of a value in a mirror: the domain, the key, and further keys into dictionaries. The last component can
/// be a part of a value that is merged by a rule of its own.
///
/// A path is stored as bytes: the tag, length and contents of each component. One path is a prefix of another if its
/// bytes are, and in byte order all paths below a path follow it directly.
package struct Path: Hashable, Sendable {
    /// For example, `01 03 61 2e 62` is the domain `a.b`.
    package let bytes: [UInt8]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// A step of a path.
    package enum Component: Hashable, Sendable {
        /// A domain, a key, or a key of a dictionary.
        case key(String)
        /// A record of an array.
        case record(RecordName)
        case part(MergedPart)
    }

    /// The length limit of a component, in bytes.
    package static let longestComponent = 1024
    /// The limit of components: a domain, and one for each level that a value may have.
    package static let mostComponents = 513
}

// MARK: Initializers

extension Path {
    package init(domain: String) { self = Path(bytes: []).appending(domain) }

    package init(domain: String, key: String) { self = Path(domain: domain).appending(key) }

    package init(_ components: some Sequence<String>) {
        self = components.reduce(Path(bytes: [])) { $0.appending($1) }
    }

    package func appending(_ text: String) -> Path { appending(MergedPart.keyTag, text.utf8) }

    package func appending(_ part: MergedPart) -> Path { appending(part.kind.rawValue, part.name) }

    package func appending(_ record: RecordName) -> Path { appending(MergedPart.recordTag, record.bytes ?? []) }

    private func appending(_ tag: UInt8, _ contents: some Collection<UInt8>) -> Path {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.bytes.count + contents.count + 3)
        bytes += self.bytes
        bytes.append(tag)
        bytes.append(leb128: UInt64(contents.count))
        bytes.append(contentsOf: contents)
        return Path(bytes: bytes)
    }

    /// Decodes a path within the limits.
    ///
    /// - Parameter longest: The length limit of a component. The journal has none, because it also holds keys that are
    ///   too long for a pack.
    package init(decoding bytes: [UInt8], longest: Int = longestComponent) throws(PackFault) {
        var reader = ByteReader(bytes)
        var count = 0
        while !reader.isAtEnd {
            let tag = try reader.byte()
            let contents = try reader.run(limit: longest)
            count += 1
            if tag == MergedPart.keyTag {
                guard contents.isUTF8 else { throw .notUTF8 }
            } else if tag == MergedPart.recordTag {
                guard count > 2, RecordName(decoding: contents) != nil else { throw .contradiction("a record") }
            } else {
                guard let kind = MergedPart.Kind(rawValue: tag) else { throw .unknownTag }
                let isNamed = kind.lengthOfName.map { $0 == contents.count } ?? contents.isUTF8
                guard isNamed, count > 2, reader.isAtEnd else {
                    throw .contradiction("a part of a value")
                }
            }
        }
        guard (1...Self.mostComponents).contains(count) else { throw .beyondLimit("components of a path") }
        self.bytes = bytes
    }
}

// MARK: Components

extension Path {
    package var components: [Component] {
        var (components, at) = ([Component](), 0)
        while at < bytes.count {
            components.append(component(at: at))
            at = end(ofComponentAt: at)
        }
        return components
    }

    private func component(at start: Int) -> Component {
        if let part = part(at: start) { return .part(part) }
        guard bytes[start] == MergedPart.recordTag else { return .key(text(ofComponentAt: start)) }
        let contents = bytes[length(at: start + 1).end..<end(ofComponentAt: start)]
        return RecordName(decoding: contents).map(Component.record) ?? .key("")
    }

    /// The domain, the key, and the further keys into dictionaries, for users. A record is its value of the key by
    /// which it is matched.
    package var keys: [String] {
        components.compactMap { component in
            switch component {
            case .key(let text): text
            case .record(let record): record.id.stringValue ?? "\(record.id)"
            case .part: nil
            }
        }
    }

    /// Whether this leads to a value through keys alone, as a path in a preference file does.
    package var hasOnlyKeys: Bool {
        components.allSatisfy { if case .key = $0 { true } else { false } }
    }

    private func text(ofComponentAt at: Int) -> String {
        let (length, start) = self.length(at: at + 1)
        return String(decoding: bytes[start..<min(start + length, bytes.count)], as: UTF8.self)
    }

    private func part(at start: Int) -> MergedPart? {
        guard let kind = MergedPart.Kind(rawValue: bytes[start]) else { return nil }
        let name = length(at: start + 1).end
        return MergedPart(kind, name: bytes[name..<end(ofComponentAt: start)])
    }

    /// The part of a merged value to which this path leads, and the place of that value; nil for any other value.
    package var merged: (place: Path, part: MergedPart)? {
        var (last, at) = (0, 0)
        while at < bytes.count { (last, at) = (at, end(ofComponentAt: at)) }
        guard at > 0, let part = part(at: last) else { return nil }
        return (prefix(bytes: last), part)
    }

    /// The place of the value to which this path leads a part of, or this path.
    package var whole: Path { merged?.place ?? self }

    /// Returns how a path below this one continues.
    func step(to below: Path) -> Step {
        let tag = below.bytes[bytes.count]
        if tag == MergedPart.recordTag || tag == MergedPart.Kind.order.rawValue { return .record }
        return MergedPart.Kind(rawValue: tag).map(Step.part) ?? .key
    }

    /// Returns the rule by which a path below this one was written.
    func merging(of below: Path) -> MergeKind {
        switch below.prefix(components: depth + 1).components.last {
        case .part(let part)?: part.merging
        case .record(let record)?: .list(identity: record.key)
        case .key?, nil: .entries
        }
    }

    /// The number of bytes up to the end of the first component, of the second, and so on.
    package var ends: [Int] {
        var (ends, at) = ([Int](), 0)
        while at < bytes.count {
            at = end(ofComponentAt: at)
            ends.append(at)
        }
        return ends
    }

    /// The number of components.
    package var depth: Int {
        var (count, at) = (0, 0)
        while at < bytes.count {
            at = end(ofComponentAt: at)
            count += 1
        }
        return count
    }

    private func end(ofComponentAt start: Int) -> Int {
        let (length, end) = length(at: start + 1)
        return min(end + length, bytes.count)
    }

    /// Decodes the length at `start`, and returns it with the position after it.
    private func length(at start: Int) -> (length: Int, end: Int) {
        var (length, shift, at) = (0, 0, start)
        while at < bytes.count, shift < 28 {
            length |= Int(bytes[at] & 0x7F) << shift
            at += 1
            if bytes[at - 1] < 0x80 { break }
            shift += 7
        }
        return (length, at)
    }

    package var domain: String { bytes.isEmpty ? "" : text(ofComponentAt: 0) }

    /// The key in the domain, or nil for the domain itself.
    package var key: String? {
        let start = bytes.isEmpty ? 0 : end(ofComponentAt: 0)
        return start < bytes.count ? text(ofComponentAt: start) : nil
    }

    package func prefix(bytes count: Int) -> Path { Path(bytes: Array(bytes.prefix(count))) }

    /// Returns the path of the first `count` components.
    package func prefix(components count: Int) -> Path {
        var (at, left) = (0, count)
        while at < bytes.count, left > 0 {
            at = end(ofComponentAt: at)
            left -= 1
        }
        return at == bytes.count ? self : prefix(bytes: at)
    }

    /// Whether `other` is this path or is below it.
    package func isPrefix(of other: Path) -> Bool {
        other.bytes.count >= bytes.count && bytes.compare(with: other.bytes, first: bytes.count) == 0
    }

    /// Returns the number of first bytes that are equal.
    func sharedBytes(with other: Path) -> Int {
        var shared = 0
        while shared < bytes.count, shared < other.bytes.count, bytes[shared] == other.bytes[shared] { shared += 1 }
        return shared
    }

    package func overlaps(_ other: Path) -> Bool { isPrefix(of: other) || other.isPrefix(of: self) }
}

extension Path {
    /// Hashes all bytes at once instead of one by one, because paths are looked up by the thousand.
    package func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.combine(bytes: bytes) }
    }
}

extension Path: Comparable {
    /// Compares bytes, so that the paths below a path follow it.
    package static func < (left: Path, right: Path) -> Bool { left.bytes.isBefore(right.bytes) }
}

extension Path: CustomStringConvertible {
    package var description: String {
        EntryPath(keys.map { EntryPath.Component($0) }).description + (merged == nil ? "" : " part")
    }
}
