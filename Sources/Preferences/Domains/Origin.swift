/// The layer that a value was found in, and the file, where it has one.
public struct Origin: Hashable, Sendable {
    /// The layer that a value comes from.
    public let layer: Layer
    /// The path of the file.
    public let file: String?

    package init(_ layer: Layer, file: String? = nil) {
        self.layer = layer
        self.file = file
    }
}

extension Origin: CustomStringConvertible {
    public var description: String { file.map { "\(layer) (\($0))" } ?? layer.name }
}
