#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs `body` on a thread of its own, for what blocks for long: the pool of Swift's tasks has a thread a core.
///
/// The thread takes no signals, so that a program's handlers run where it expects them.
func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    var (all, former) = (sigset_t(), sigset_t())
    sigfillset(&all)
    // The new thread begins with the mask of the one that starts it.
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

/// Does work that may wait for files on a thread of its own; on the caller's where no thread can be had.
package func runApart(_ work: @escaping @Sendable () -> Void) {
    do throws(SystemFailure) {
        try startThread(work)
    } catch {
        work()
    }
}
