import TestSupport
import Testing

extension Mount {
    /// Returns a small file system, or cancels the test if none can be mounted.
    static func orCancel(size: Int) throws -> Mount {
        guard let mount = try make(size: size) else { try Test.cancel("no privilege to mount") }
        return mount
    }
}
