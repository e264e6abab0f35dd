import Glibc

signal(SIGPIPE, SIG_IGN)
switch CommandLine.arguments.dropFirst().first {
case "store-driver":
    var driver = try StoreDriver(CommandLine.arguments.dropFirst(2))
    exit(try driver.run() ? 0 : 1)
case "formats-driver":
    FormatsDriver.answerCommands()
    exit(0)
default: exit(Benchmark.exitStatus(of: Array(CommandLine.arguments.dropFirst())))
}
