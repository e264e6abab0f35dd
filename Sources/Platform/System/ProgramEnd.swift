internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs `action` when the program ends normally: when its main function returns or calls `exit`.
package func atExit(_ action: @escaping @Sendable () -> Void) {
    let isFirst = endings.withLock { endings in
        endings.append(action)
        return endings.count == 1
    }
    if isFirst { atexit { for action in endings.withLock({ $0 }) { action() } } }
}

private let endings = Mutex<[@Sendable () -> Void]>([])
