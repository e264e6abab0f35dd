// ThreadSanitizer knows of a lock what it has seen of it. Of a `Mutex` it sees the quick way, which is compiled into
// who uses it, but not the slow one: who has to wait gets the lock from the kernel, by code of the system's library
// that is not instrumented. So what the former holder wrote seems to be read without any order, and each contended lock
// a race.
//
// A program for ThreadSanitizer gets a slow way of its own in the place of the library's: it tries again until the
// quick way is free, by operations that can be seen. The lock then never knows of anybody who waits, and so is always
// released in the quick way.
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
