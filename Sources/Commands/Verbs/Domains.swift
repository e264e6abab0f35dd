internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let domains = Verb(
        "domains", .classic, "print the names of all domains",
        options: [.layer, .format([.lines, .json], "one line each, or JSON")], statuses: [.systemFailed]
    ) { invocation, surroundings in
        let access = try StoreAccess(invocation, surroundings)
        let names = try access.names().filter { !$0.isGlobal }.map(\.text)
        switch invocation.format {
        case .lines: for name in names { try surroundings.say(name) }
        case .json:
            let list = PropertyList.array(names.map { .string($0) })
            try surroundings.terminal.write(Rendering(.json).bytes(of: list), to: .output)
        default: try surroundings.say(names.joined(separator: ", "))
        }
        return .done
    }
}
