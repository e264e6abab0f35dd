#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs `body` on a new thread. For work that blocks: Swift's task pool has only one thread per core.
///
/// The thread blocks all signals, so that signal handlers run on the threads where the program expects them.
func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    var (all, former) = (sigset_t(), sigset_t())
    sigfillset(&all)
    // A new thread inherits the signal mask of its creator.
    pthread_sigmask(SIG_SETMASK, &all, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    let work = Unmanaged.passRetained(ThreadWork(body))
    #if canImport(Darwin)
        var thread: pthread_t?
    #else
        var thread = pthread_t()
    #endif
    let status = pthread_create(&thread, &attributes, runWork, work.toOpaque())
    guard status == 0 else {
        work.release()
        throw SystemFailure(ErrorCode(rawValue: status), .startThread, nil)
    }
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Darwin)
    private func runWork(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#else
    private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let work else { return nil }
        Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#endif

/// Runs work that may block on file access on a new thread, or on the caller's if no thread can be created.
package func runOnNewThread(_ work: @escaping @Sendable () -> Void) {
    do throws(SystemFailure) {
        try startThread(work)
    } catch {
        work()
    }
}
