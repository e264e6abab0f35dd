/// What a text format makes of the events of a walk over a value.
protocol ValueSink: ~Copyable {
    /// Takes a value that is no container.
    mutating func add(scalar: borrowing PropertyList) throws(Refusal)
    mutating func begin(_ container: ContainerShape) throws(Refusal)
    /// Whether a dictionary's keys stand before its values.
    static var takesKeysFirst: Bool { get }
    /// Takes all keys of the dictionary that was begun last, where they stand before its values.
    mutating func addKeys(of entries: UnsafeBufferPointer<PropertyList.Dictionary.Entry>)
    /// Takes the key of the value that follows.
    mutating func addKey(_ key: borrowing String, isFirst: Bool) throws(Refusal)
    /// An element of an array follows.
    mutating func beginElement(isFirst: Bool)
    /// An element of an array, or the value behind a key, is complete.
    mutating func endElement(inDictionary: Bool)
    mutating func end(_ container: ContainerShape)
    /// What a dictionary of this shape would be mistaken for by a reader.
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind?
}

extension ValueSink where Self: ~Copyable {
    static var takesKeysFirst: Bool { false }
    mutating func addKeys(of entries: UnsafeBufferPointer<PropertyList.Dictionary.Entry>) {}
    mutating func beginElement(isFirst: Bool) {}
    mutating func endElement(inDictionary: Bool) {}
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? { nil }
}

struct ContainerShape {
    let isDictionary: Bool
    let count: Int

    var isEmpty: Bool { count == 0 }
}

/// Why a writer stopped, before anybody asks at which entry.
struct Refusal: Error {
    let problem: EncodingFailure.Problem

    init(_ problem: EncodingFailure.Problem) { self.problem = problem }
}
