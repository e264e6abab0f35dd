import Glibc

signal(SIGPIPE, SIG_IGN)
if CommandLine.arguments.dropFirst().first == "store-driver" {
    var driver = try StoreDriver(CommandLine.arguments.dropFirst(2))
    exit(try driver.run() ? 0 : 1)
}
exit(Benchmark.exitStatus(of: Array(CommandLine.arguments.dropFirst())))
