import Glibc

/// The memory from which contenders allocate.
enum Heap {
    private static let variable = "GLIBC_TUNABLES"

    /// Begins this process anew, so that it and those that it starts keep what they free.
    ///
    /// Otherwise whether the pages of a value are returned after each call, and cleared anew for the next, is up to
    /// what happens to lie behind it: that came and went with a third of what reading takes.
    static func keepFreed() throws {
        guard getenv(variable) == nil else { return }
        setenv(variable, "glibc.malloc.trim_threshold=\(Int32.max):glibc.malloc.mmap_threshold=33554432", 1)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        throw Failure.system("/proc/self/exe")
    }
}
