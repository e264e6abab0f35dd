internal import Platform
internal import Preferences

extension DoctorCheck {
    /// Temporary files that killed writers have left.
    static let temporaries = DoctorCheck(subject: "stale temporary files") { checkup in
        let needed = Set(checkup.user.notedTransactions(on: checkup.machine).flatMap(\.temporaries))
        let now = checkup.machine.clock.wall
        return (checkup.writtenFolders + checkup.domainFolders).flatMap { folder in
            checkup.names(in: folder).filter(\.isTemporary).compactMap { name -> DoctorFinding? in
                let path = folder.appending(name)
                let found = try? checkup.files.status(of: path, followingLink: false)
                guard !needed.contains(path), let status = found ?? nil,
                    status.modified.advanced(by: oldAge) < now
                else {
                    return nil
                }
                return DoctorFinding(
                    path.description, "left by a killed writer", .command(["rm", "-f"], on: path))
            }
        }
    }

    /// The age from which a temporary file is considered stale. Running writers keep theirs only briefly.
    private static let oldAge = Duration.seconds(3600)

    /// Committed transactions that could not be completed.
    static let transactions = DoctorCheck(subject: "pending transactions") { checkup in
        checkup.user.notedTransactions(on: checkup.machine).filter { !$0.isBusy }.map { noted in
            if noted.isOfOthers {
                return DoctorFinding(
                    noted.path.description, "another user's change of several files in this store is pending",
                    .advice("only that user can complete it, with any command on one of the domains"))
            }
            guard let domains = noted.domains else {
                return DoctorFinding(
                    noted.path.description, "unreadable transaction record",
                    .command(["rm", "-f"], on: noted.path))
            }
            let names = domains.joined(separator: ", ")
            let problem = "a committed change to \(names) could not be completed; the next reader tries again"
            guard let first = domains.first else {
                return DoctorFinding(noted.path.description, problem, .command(["rm", "-f"], on: noted.path))
            }
            return DoctorFinding(noted.path.description, problem, .command(checkup.spelling(of: first).words(["read"])))
        }
    }
}
