/// Who holds a lock, as far as the system says.
public struct LockHolder: Hashable, Sendable {
    /// The number of its process.
    public let process: Int32
    /// The name of its program; nil where nobody can say.
    public let program: String?
}
