internal import Platform

extension Verb {
    package static let doctor = Verb(
        "doctor", .new, "find problems and print how to fix them",
        details: [
            "Each finding is followed by the command that fixes it, or by a comment if there is none. Nothing is changed."
        ],
        statuses: [.systemFailed, .different], scope: .allHosts
    ) { invocation, context in
        let doctor = try DoctorContext(invocation, context)
        var findings: [DoctorFinding] = []
        var status = ExitStatus.done
        for check in DoctorCheck.all {
            do {
                findings += try check.find(doctor)
            } catch let failure as SystemFailure {
                context.note("\(check.subject): \(failure)")
                status = .systemFailed
            }
        }
        for finding in findings { try context.say(finding.lines.joined(separator: "\n")) }
        for line in doctor.rememberedSecrets { context.note(line) }
        if findings.isEmpty, status == .done { try context.say("no problems found") }
        return findings.isEmpty ? status : .different
    }
}
