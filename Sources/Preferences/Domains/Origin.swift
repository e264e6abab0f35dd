/// The layer in which a value was found, and its file if there is one.
public struct Origin: Hashable, Sendable {
    /// The layer in which the value was found.
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
