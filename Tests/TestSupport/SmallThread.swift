import Dispatch
import Foundation
import Synchronization

/// A thread with the smallest stack that a platform gives to threads other than the main one.
package enum SmallThread {
    package static let stackSize = 512 << 10

    /// The size for a thread that writes deep values, whose calls use twice as much stack in a debug build.
    package static var stackSizeForWriting: Int {
        #if DEBUG
            2 * stackSize
        #else
            stackSize
        #endif
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// Runs `body` on such a thread, and returns its result or throws its error.
    package static func run<Value: Sendable>(
        stackSize: Int = stackSize, _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let outcome = Outcome<Value>()
        let thread = Thread {
            let result = Result { try body() }
            outcome.result.withLock { $0 = result }
            outcome.isThere.signal()
        }
        thread.stackSize = stackSize
        thread.start()
        outcome.isThere.wait()
        return try outcome.result.withLock { $0! }.get()
    }
}
