internal import Platform

extension Verb {
    package static let doctor = Verb(
        "doctor", .new, "look for whatever is not as it should be, and say what mends it",
        details: [
            "Each finding is a line, and below it stands the command that mends it, or a comment where none does. Nothing is changed."
        ],
        statuses: [.systemFailed, .different]
    ) { invocation, surroundings in
        let checkup = try Checkup(invocation, surroundings)
        var findings: [Ailment] = []
        var status = ExitStatus.done
        for examination in Examination.all {
            do {
                findings += try examination.find(checkup)
            } catch let failure as SystemFailure {
                try surroundings.note("\(examination.subject): \(failure)")
                status = .systemFailed
            }
        }
        for finding in findings { try surroundings.say(finding.lines.joined(separator: "\n")) }
        if findings.isEmpty, status == .done { try surroundings.say("nothing to mend") }
        return findings.isEmpty ? status : .different
    }
}
