internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SettingsSchema

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The command `prefs`: from its arguments to its exit status.
public enum Command: Sendable {
    /// Runs the command and returns its exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        let asksForHelp = ["--help", "help"].contains(arguments.dropFirst().first)
        let usage = Array("usage: prefs [options] verb [arguments]\nThis build has no verbs yet.\n".utf8)
        _ = write(asksForHelp ? STDOUT_FILENO : STDERR_FILENO, usage, usage.count)
        return asksForHelp ? 0 : 2
    }
}
