/// A type whose values are single values of a property list, coded without a container or an encoder of their own.
protocol Scalar: Codable {
    /// The value in this type, or nil where it is of another kind or does not fit.
    init?(scalar value: PropertyList)

    /// Whether values of this kind may stand for one of this type, so that it is the value that does not fit.
    static func isNear(_ kind: PropertyList.Kind) -> Bool

    /// The value as property lists have it, or nil where they cannot hold it.
    var scalar: PropertyList? { get }
}

extension Scalar {
    static func isNear(_ kind: PropertyList.Kind) -> Bool { false }
}

extension Bool: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }

    @inline(__always)
    var scalar: PropertyList? { .boolean(self) }
}

extension String: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) {
        guard case .string(let text) = value else { return nil }
        self = text
    }

    @inline(__always)
    var scalar: PropertyList? { .string(self) }
}

extension PropertyList: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) { self = value }

    @inline(__always)
    var scalar: PropertyList? { self }
}

extension PropertyList.Integer: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }

    @inline(__always)
    var scalar: PropertyList? { .integer(self) }
}
