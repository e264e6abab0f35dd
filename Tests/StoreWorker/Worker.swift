import Glibc
import Platform
import Preferences
import PropertyLists

/// The task of a worker: `PLACE TASK ARGUMENT…`, where the place is a folder or the word `native`.
struct Worker {
    let place: String
    let task: String
    let arguments: [String]

    init(_ words: [String]) throws {
        guard words.count >= 2 else { throw Misuse("a place and a task") }
        place = words[0]
        task = words[1]
        arguments = Array(words.dropFirst(2))
    }

    /// Runs a task by its name. Each line of its output is an acknowledgement.
    private static let tasks: [String: @Sendable (Worker) throws -> Void] = [
        "add": { try $0.add() },
        "fill": { try $0.fill() },
        "compete": { try $0.compete() },
        "daemon": { try $0.serve() },
        "endless": { try $0.writeEndlessly() },
        "endless-flush": { try $0.flushEndlessly() },
        "endless-folder": { try $0.writeFolderEndlessly() },
        "endless-pair": { try $0.writePairsEndlessly() },
        "hold": { try $0.hold() },
        "observe": { try $0.observe() },
        "race": { try $0.race() },
        "read": { say("\(try $0.defaults().integer(forKey: $0.argument(1)))") },
        "set": { try $0.setAndEnd() },
        "threads": { try $0.runThreads() },
        "write": { try $0.writeOnce() },
    ]

    func run() throws {
        guard let body = Self.tasks[task] else { throw Misuse("a task, not \(task)") }
        try body(self)
    }

    struct Misuse: Error, CustomStringConvertible {
        let description: String

        init(_ wanted: String) { description = "wanted: \(wanted)" }
    }
}

// MARK: Arguments

extension Worker {
    func argument(_ index: Int) throws -> String {
        guard arguments.indices.contains(index) else { throw Misuse("argument \(index + 1)") }
        return arguments[index]
    }

    func number(_ index: Int) throws -> Int {
        guard let number = Int(try argument(index)) else { throw Misuse("a number as argument \(index + 1)") }
        return number
    }

    func store() throws -> Store {
        if place == "native" { return .native }
        guard let store = Store.folder(place) else { throw Misuse("a folder") }
        return store
    }

    /// The settings of the domain that is the first argument.
    func defaults() throws -> Defaults { Defaults(try DomainName(argument(0)), in: try store()) }

    /// The file of the domain in an argument.
    func file(_ index: Int) throws -> DomainFile {
        guard let places = try store().shared.places.get() else { throw Misuse("a place with files") }
        return places.user.file(of: try DomainName(argument(index)))
    }

    var system: SystemServices { get throws { try store().shared.system } }
}

/// Writes a line without a buffer, because its reader may kill this process next.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

/// Waits for a line on the standard input, or its end.
func waitForWord() { _ = readLine() }
