internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let watch = Verb(
        "watch", .new, "print a line for each change as it happens, until interrupted",
        details: [
            "Without DOMAIN all domains are watched. A line has the layer, the domain, the key or the path of the entry, and the old and new values in lossless JSON. With --format commands a text with a newline in it takes as many lines as it has.",
            "Changes of stored values are printed for each layer; with --effective, changes of the values in force, with the layer that they come from. If all domains are watched, a value from the global domain is printed for that domain only.",
            "GLOB is a pattern with * ? [a-z] for names of domains or keys. DOMAIN is a name and not a pattern.",
        ],
        options: [.effective, .format([.text, .json, .commands]), .ignore], forms: [[.anyDomain, .anyKey]],
        statuses: [.invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        var domain = try invocation[operand: "DOMAIN"].map { try access.domain($0) }
        domain?.file.inexactIntegers = .text
        let report = try WatchReport(access, invocation)
        let bell = ResettableEvent()
        var watch = try StoreWatch(access, domain, isEffective: invocation.has(.effective), ringing: bell)
        var isInterrupted = false
        while !isInterrupted {
            isInterrupted = !context.wait(bell.next)
            bell.reset()
            // Runs once more after an interrupt, to report changes that preceded it.
            for change in try watch.look() {
                let text = try report.text(of: change)
                if !text.isEmpty { try context.terminal.write(text, to: .output) }
            }
        }
        return .done
    }
}

extension Option {
    package static let ignore = Option(
        "--ignore", Argument("GLOB", .word), "ignore matching domains or keys", repeats: true)
}
