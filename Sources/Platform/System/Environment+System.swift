#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Environment {
    /// What this process was told, as of now.
    package static func ofThisProcess() -> Environment {
        Environment(
            variables: environmentVariables(), arguments: CommandLine.arguments, executable: runningProgram(),
            process: getpid(), user: geteuid(), hostName: nameOfHost())
    }

    private static func environmentVariables() -> [String: String] {
        var variables: [String: String] = [:]
        #if canImport(Darwin)
            var entry = _NSGetEnviron().pointee
        #else
            // Null in a process that cleared all of it.
            let first: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
            guard var entry = first else { return variables }
        #endif
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // Of two entries of one name, the C library finds the first.
            if parts.count == 2, variables[String(parts[0])] == nil { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    private static func runningProgram() -> FilePath? {
        #if os(Linux)
            // Null stands for an unreadable one, as in a process that changed its user.
            (try? SystemFileSystem().destination(ofLink: "/proc/self/exe")) ?? nil
        #else
            CommandLine.arguments.first.flatMap { FilePath($0) }
        #endif
    }

    private static func nameOfHost() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
