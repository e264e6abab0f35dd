// The executable `prefs`. All of its code is in `Commands`.
//
// `build` links the executable with its functions in the order of their use. `install` copies it, the manual pages and
// the completions to their destinations, and `package` makes packages of them.
internal import Commands

// No name from these modules is used here. The linker of a static executable considers only the executable's own
// imports, not those of its modules, when it chooses the archives to link.
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

exit(Prefs.run())
