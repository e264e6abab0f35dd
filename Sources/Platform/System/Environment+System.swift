// Unsafe: the arguments and variables of the process are C strings, which are copied up to their final NUL.
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Environment {
    /// Returns the current environment of this process.
    package static func ofThisProcess() -> Environment {
        var environment = Environment(
            variables: environmentVariables(), arguments: CommandLine.arguments, executable: runningProgram(),
            workingFolder: currentFolder(), process: getpid(), user: geteuid(), hostName: nameOfHost())
        environment.bytesOfArguments = changedArguments(among: environment.arguments)
        return environment
    }

    /// Returns the original bytes of the arguments that Swift has changed by replacing invalid UTF-8, by position.
    private static func changedArguments(among arguments: [String]) -> [Int: [UInt8]] {
        let given = unsafe CommandLine.unsafeArgv
        var changed: [Int: [UInt8]] = [:]
        for position in arguments.indices.prefix(Int(CommandLine.argc)) {
            guard let text = unsafe given[position] else { continue }
            let isChanged = unsafe arguments[position].withCString { unsafe strcmp($0, text) } != 0
            guard isChanged else { continue }
            changed[position] = unsafe bytes(of: text)
        }
        return changed
    }

    private static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    private static func environmentVariables() -> EnvironmentVariables {
        var variables = EnvironmentVariables()
        #if canImport(Darwin)
            var entry = unsafe _NSGetEnviron().pointee
        #else
            // Null in a process that has called `clearenv`.
            let first: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
            guard var entry = unsafe first else { return variables }
        #endif
        while let text = unsafe entry.pointee {
            if let sign = unsafe strchr(text, CInt(UInt8(ascii: "="))) {
                let name = unsafe UnsafeRawBufferPointer(start: text, count: sign - text)
                let value = unsafe String(cString: sign + 1)
                let isChanged = unsafe value.withCString { unsafe strcmp($0, sign + 1) } != 0
                let bytes = unsafe isChanged ? bytes(of: sign + 1) : nil
                unsafe variables.append(String(decoding: name, as: UTF8.self), value, bytes: bytes)
            }
            unsafe entry += 1
        }
        return variables
    }

    private static func currentFolder() -> FilePath? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let text = unsafe getcwd(buffer.baseAddress, buffer.count) else { return nil }
            let path = unsafe FilePath(bytes(of: text))
            return path.flatMap { $0.isAbsolute ? $0 : nil }
        }
    }

    private static func runningProgram() -> FilePath? {
        #if os(Linux)
            program(at: "/proc/self/exe", in: SystemFileSystem())
        #else
            CommandLine.arguments.first.flatMap { FilePath($0) }
        #endif
    }

    private static func nameOfHost() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Runs `action` when the program ends normally: when its main function returns or calls `exit`.
package func atExit(_ action: @escaping @Sendable () -> Void) {
    let isFirst = endings.withLock { endings in
        endings.append(action)
        return endings.count == 1
    }
    if isFirst { atexit { for action in endings.withLock({ $0 }) { action() } } }
}

private let endings = Mutex<[@Sendable () -> Void]>([])
