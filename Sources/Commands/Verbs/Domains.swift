internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let domains = Verb(
        "domains", .classic, "print the names of all domains",
        options: [.layer, .format([.lines, .json], "one line each, or JSON")], statuses: [.systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let names = try access.names().filter { !$0.isGlobal }.map(\.text)
        switch invocation.format ?? (context.dialect == .modern ? .lines : nil) {
        case .lines: for name in names { try context.say(name) }
        case .json:
            let list = PropertyList.array(names.map { .string($0) })
            try context.terminal.write(Rendering(.json).bytes(of: list), to: .output)
        default: try context.say(names.joined(separator: ", "))
        }
        return .done
    }
}
