// The executable `prefs`: the command's modules, linked into one file that needs no other. All that it does is in
// `Commands`.
//
// startup-order.txt names what a start runs, for the linker to put side by side; `Tests/run order` writes it anew.
// install puts the executable, the manual pages and the completions in their places.
internal import Commands

// Not for a name in this file: a static executable is told by its own imports which archives it must be linked with,
// and those of the modules below it do not count.
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

exit(Prefs.run(CommandLine.arguments))
