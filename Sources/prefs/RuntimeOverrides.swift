// Replacements of two functions of the Swift runtime that read `/proc`, so that the static executable also starts in a
// bare chroot. The linker takes these definitions, and leaves out the files of libswiftCore.a with the original ones.
// A dynamic executable does not export them, so that they have no effect there.

#if os(Linux)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    /// Returns null, because no program of the Swift toolchain is installed with `prefs`.
    ///
    /// Before `main`, the runtime searches for `swift-backtrace` in folders near its own file, and aborts if
    /// `/proc/self/exe` does not name that file. `SWIFT_BACKTRACE=swift-backtrace=PATH` still has its effect.
    @c(swift_copyAuxiliaryExecutablePath)
    func pathOfToolchainProgram(_ name: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? { nil }

    /// Returns the arguments of the process, which are followed by null, for `CommandLine`.
    ///
    /// The runtime finds them with `/proc/self/maps`, and has no arguments without it. On the stack of a new process,
    /// the number of arguments, the arguments, null and the variables follow one another. So the search goes backwards
    /// from the variables to the number; no pointer is that small. After a `setenv`, the variables are elsewhere and no
    /// null precedes them.
    @c(_swift_stdlib_getUnsafeArgvArgc)
    func argumentsOfProcess(_ count: UnsafeMutablePointer<CInt>) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
        count.pointee = 0
        let variables: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        guard let variables, variables[-1] == nil else {
            let none = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 1)
            none.initialize(to: nil)
            return none
        }
        var word = variables - 2
        while Int(bitPattern: word.pointee) != Int(count.pointee) {
            word -= 1
            count.pointee += 1
        }
        return word + 1
    }
#endif
