internal import Platform
internal import Preferences
internal import PropertyLists

extension Examination {
    /// Unreadable files: domains and kept versions.
    static let damage = Examination(subject: "unreadable and damaged files") { checkup in
        var findings: [Ailment] = []
        for domain in checkup.domains {
            if let finding = finding(domain, checkup) { findings.append(finding) }
            if domain.layer.isOfUser { findings += damagedVersions(of: domain, checkup) }
        }
        return findings
    }

    private static func finding(_ domain: ExaminedDomain, _ checkup: Checkup) -> Ailment? {
        do throws(StoreFailure) {
            guard let recovery = try domain.file.contents(on: checkup.machine).recovery,
                let version = recovery.version
            else {
                return nil
            }
            return Ailment(
                recovery.damage.description, "damaged; the version of \(version.time) stands in",
                checkup.command("restore", domain, [version.sequence.description]))
        } catch {
            if error.isDamage {
                return Ailment(
                    error.description, "damaged, and no version of it is kept; removing keeps the file beside",
                    checkup.command("delete", domain))
            }
            return refused(error, domain)
        }
    }

    /// Returns a failure of the system as a finding. Missing read permission is reported by the permissions check.
    private static func refused(_ failure: StoreFailure, _ domain: ExaminedDomain) -> Ailment? {
        let path = domain.file.path
        guard case .system(ErrorCode.accessDenied.rawValue, _) = failure.problem else {
            // The kernel log has entries only for failures of the device.
            let isOfDisk =
                if case .system(ErrorCode.inputOutput.rawValue, _) = failure.problem { true } else { false }
            return Ailment(
                path.description, failure.description,
                .advice(isOfDisk ? "see what the system says of its disk: dmesg" : "see what it is: ls -ld \(path)"))
        }
        return nil
    }

    private static func damagedVersions(of domain: ExaminedDomain, _ checkup: Checkup) -> [Ailment] {
        guard let history = History(of: domain.file, on: checkup.machine) else { return [] }
        return history.versions.filter { history.state(of: $0) == nil }.compactMap { version in
            guard let path = history.path(of: version) else { return nil }
            return Ailment(
                path.description, "version \(version.sequence) of \(domain.name) is damaged",
                .command(["rm", "-f"], on: path))
        }
    }

    /// Damaged files that were set aside when a new file was written.
    static let leftovers = Examination(subject: "damaged files that were set aside") { checkup in
        guard checkup.user.arrangement == .own else { return [] }
        return checkup.writtenFolders.prefix(2).flatMap { folder in
            checkup.names(in: folder).filter(isLeftover).map { name in
                let path = folder.appending(name)
                return Ailment(
                    path.description, "damaged, and set aside; once nothing in it is missed, remove it",
                    .command(["rm", "-f"], on: path))
            }
        }
    }

    private static func isLeftover(_ name: FileName) -> Bool {
        guard let range = name.description.firstRange(of: ".plist.damaged-") else { return false }
        return name.description[range.upperBound...].allSatisfy { $0.isNumber || $0 == "-" }
    }
}
