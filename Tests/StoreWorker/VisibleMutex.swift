// ThreadSanitizer sees only instrumented code. The fast path of a `Mutex` is inlined into its users and is
// instrumented. The slow path, in which a waiting thread gets the lock from the kernel, is in the system's library and
// is not. So the writes of the previous holder seem unordered, and each contended lock is reported as a race.
//
// A build for ThreadSanitizer replaces the slow path with one that retries the fast path with instrumented operations.
// The lock then never records a waiting thread, so it is always released by the fast path.
#if THREAD_SANITIZER
    import Glibc
    import Synchronization

    extension _MutexHandle {
        @_silgen_name("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF")
        borrowing func waitVisibly(_ thread: UInt32) {
            withUnsafePointer(to: self) { handle in
                let word = UnsafeRawPointer(handle).assumingMemoryBound(to: Atomic<UInt32>.self)
                while !word.pointee.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged {
                    sched_yield()
                }
            }
        }
    }
#endif
