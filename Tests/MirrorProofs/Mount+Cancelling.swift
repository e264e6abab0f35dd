import TestSupport
import Testing

extension Mount {
    /// A small file system. The test is over where none can be had.
    static func orCancel(size: Int) throws -> Mount {
        guard let mount = try make(size: size) else { try Test.cancel("no privilege to mount") }
        return mount
    }
}
