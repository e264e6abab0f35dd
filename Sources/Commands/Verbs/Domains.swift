internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let domains = Verb(
        "domains", .classic, "print the names of all domains",
        details: ["--hosts prints the hosts that have settings of their own, and first this one with its name."],
        options: [.hosts, .layer, .format([.lines, .json], "one line each, or JSON")], statuses: [.systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        if invocation.has(.hosts) {
            let hosts = try access.hosts()
            guard invocation.format == .json else {
                for row in hosts {
                    try context.say(
                        [row.host, row.name].compactMap { $0.map(LineText.escaped) }.joined(separator: "\t"))
                }
                return .done
            }
            let rows = hosts.map { row in
                var entries: PropertyList.Dictionary = ["host": .string(row.host)]
                entries["name"] = row.name.map { .string($0) }
                return PropertyList.dictionary(entries)
            }
            try context.print(json: Rendering(.json).bytes(of: .array(rows)))
            return .done
        }
        let names = try access.names().filter { !$0.isGlobal }.map(\.text)
        switch invocation.format ?? (context.dialect == .modern ? .lines : nil) {
        case .lines: for name in names { try context.say(name) }
        case .json:
            let list = PropertyList.array(names.map { .string($0) })
            try context.print(json: Rendering(.json).bytes(of: list))
        default: try context.say(names.joined(separator: ", "))
        }
        return .done
    }
}

extension Option {
    fileprivate static let hosts = Option("--hosts", "print the hosts instead")
}
