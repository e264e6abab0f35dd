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
            process: getpid(), user: geteuid(), hostName: nameOfHost())
        environment.bytesOfArguments = changedArguments(among: environment.arguments)
        for (position, bytes) in environment.bytesOfArguments {
            let other = environment.changedArguments.updateValue(bytes, forKey: environment.arguments[position])
            if let other, other != bytes { environment.changedArguments[environment.arguments[position]] = [] }
        }
        return environment
    }

    /// Returns the original bytes of the arguments that Swift has changed by replacing invalid UTF-8, by position.
    private static func changedArguments(among arguments: [String]) -> [Int: [UInt8]] {
        let given = CommandLine.unsafeArgv
        var changed: [Int: [UInt8]] = [:]
        for position in arguments.indices.prefix(Int(CommandLine.argc)) {
            guard let text = given[position], arguments[position].withCString({ strcmp($0, text) }) != 0 else {
                continue
            }
            changed[position] = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
        }
        return changed
    }

    private static func environmentVariables() -> EnvironmentVariables {
        var variables = EnvironmentVariables()
        #if canImport(Darwin)
            var entry = _NSGetEnviron().pointee
        #else
            // Null in a process that has called `clearenv`.
            let first: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
            guard var entry = first else { return variables }
        #endif
        while let text = entry.pointee {
            if let sign = strchr(text, CInt(UInt8(ascii: "="))) {
                let name = UnsafeRawBufferPointer(start: text, count: sign - text)
                let value = String(cString: sign + 1)
                let isChanged = value.withCString { strcmp($0, sign + 1) } != 0
                variables.append(String(decoding: name, as: UTF8.self), value, isChanged: isChanged)
            }
            entry += 1
        }
        return variables
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
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
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

package struct SystemClock: Clock {
    package init() {}

    package var wall: Timestamp { Timestamp(time(of: CLOCK_REALTIME)) }
    package var now: Instant { Instant(time(of: CLOCK_MONOTONIC)) }

    package var tick: Instant {
        #if canImport(Darwin)
            Instant(time(of: CLOCK_MONOTONIC_RAW_APPROX))
        #else
            Instant(time(of: CLOCK_MONOTONIC_COARSE))
        #endif
    }

    package func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        TimerThread.ofThisProcess.wake(at: instant, action)
    }

    private func time(of clock: clockid_t) -> timespec {
        var time = timespec()
        // This fails only for an unknown clock.
        clock_gettime(clock, &time)
        return time
    }
}
