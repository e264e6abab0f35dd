internal import Platform

extension Verb {
    package static let doctor = Verb(
        "doctor", .new, "look for whatever is not as it should be, and say what mends it",
        details: [
            "Each finding is a line, and below it stands the command that mends it, or a comment where none does. Nothing is changed."
        ],
        statuses: [.systemFailed, .different]
    ) { invocation, context in
        let checkup = try DoctorContext(invocation, context)
        var findings: [DoctorFinding] = []
        var status = ExitStatus.done
        for examination in DoctorCheck.all {
            do {
                findings += try examination.find(checkup)
            } catch let failure as SystemFailure {
                try context.note("\(examination.subject): \(failure)")
                status = .systemFailed
            }
        }
        for finding in findings { try context.say(finding.lines.joined(separator: "\n")) }
        if findings.isEmpty, status == .done { try context.say("nothing to mend") }
        return findings.isEmpty ? status : .different
    }
}
