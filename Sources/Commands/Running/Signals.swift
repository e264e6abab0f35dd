internal import Platform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension sigset_t {
    /// Creates a set of signals.
    init(of numbers: [Int32]) {
        self.init()
        sigemptyset(&self)
        for number in numbers { sigaddset(&self, number) }
    }
}

/// The signals that ask a command to end.
let endingSignals = [SIGINT, SIGTERM, SIGHUP]

/// Calls `action` on a separate thread with the first of the signals. The signals are blocked in all other threads, so
/// none is lost or runs a handler. Signals that are ignored, for example by `nohup`, stay ignored.
func awaitSignal(_ numbers: [Int32], _ action: @escaping @Sendable (Int32) -> Void) {
    let awaited = sigset_t(of: numbers.filter { !isIgnored($0) })
    var blocked = awaited
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
    runOnNewThread {
        var (signals, number) = (awaited, Int32(0))
        sigwait(&signals, &number)
        action(number)
    }
}

private func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if os(Linux)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
        return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
}
