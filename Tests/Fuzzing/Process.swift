#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Prints a line without a buffer, so that it appears even if the process ends immediately afterwards.
func say(_ line: String, to descriptor: CInt) {
    var rest = Substring(line + "\n").utf8
    while !rest.isEmpty {
        let count = rest.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) } ?? -1
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// Ends the process so that a fuzzer keeps the input.
func abortWithMessage(_ message: String) -> Never {
    say(message, to: STDERR_FILENO)
    abort()
}

func endProcess(_ status: CInt) -> Never { exit(status) }

func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
