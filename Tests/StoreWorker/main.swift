import Glibc

// A program that uses the library, for tests that require several processes. Its arguments select a task.

do {
    try Worker(Array(CommandLine.arguments.dropFirst())).run()
} catch {
    say("failed: \(error)")
    exit(1)
}
