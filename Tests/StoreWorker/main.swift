import Glibc

// A process of a program that uses the library, for tests that need several: what it is to do stands in its arguments.

do {
    try Worker(Array(CommandLine.arguments.dropFirst())).run()
} catch {
    say("failed: \(error)")
    exit(1)
}
