/// The process that holds a lock, as far as the system reports it.
public struct LockHolder: Hashable, Sendable {
    /// The process identifier.
    public let process: Int32
    /// The name of the program, or nil if it is unknown.
    public let program: String?
}
