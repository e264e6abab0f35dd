internal import Platform
internal import Preferences
internal import PropertyLists

extension Examination {
    /// What the user has set and does not count, because a higher layer has it too.
    static let shadows = Examination(subject: "keys that a higher layer hides") { checkup in
        var higher: [DomainName: [(domain: ExaminedDomain, values: PropertyList.Dictionary)]] = [:]
        var findings: [Ailment] = []
        // The domains stand in the order of their layers.
        for domain in checkup.domains where [.forced, .userHost, .user].contains(domain.layer) {
            guard domain.layer != .forced || domain.file.isTrusted(on: checkup.machine),
                let contents = try? domain.file.contents(on: checkup.machine)
            else { continue }
            let values = contents.values.withoutHidden
            for key in values.keys.sorted() where domain.layer != .forced {
                guard let hiding = higher[domain.name]?.first(where: { $0.values[key] != nil }) else { continue }
                findings.append(finding(domain, key, hiding.domain, checkup))
            }
            higher[domain.name, default: []].append((domain, values))
        }
        return findings
    }

    private static func finding(
        _ domain: ExaminedDomain, _ key: String, _ hiding: ExaminedDomain, _ checkup: Checkup
    ) -> Ailment {
        let options = hiding.layer == .forced ? [Option.force.name] : []
        let argument = (try? KeyArgument(EntryPath([EntryPath.Component(key)])))?.argument
        return Ailment(
            "\(domain.name) \(argument ?? key)",
            "does not count in layer \(domain.layer): \(hiding.layer) has it, in \(hiding.file.path)",
            checkup.removal(of: key, in: domain, options: options))
    }

    /// Files of the administrator that force nothing, since others could have written them.
    static let forcedFiles = Examination(subject: "forced files that do not count") { checkup in
        guard let folder = checkup.access.places.forced?.folder else { return [] }
        do throws(SystemFailure) {
            _ = try checkup.files.names(in: folder)
        } catch {
            return [
                Ailment(folder.description, "you cannot look into it", .command(["sudo", "chmod", "a+rx"], on: folder))
            ]
        }
        let paths = checkup.domains.filter { $0.layer == .forced }.map(\.file.path)
        return ((paths.isEmpty ? [] : [folder]) + paths).flatMap { path in
            ((try? checkup.files.status(of: path)) ?? nil).map {
                reasons(path, $0, checkup.machine.administrator)
            } ?? []
        }
    }

    private static func reasons(
        _ path: FilePath, _ status: FileStatus, _ administrator: UInt32
    ) -> [Ailment] {
        let what = status.kind == .folder ? "nothing in it counts" : "does not count"
        var findings: [Ailment] = []
        if status.owner != administrator {
            let owner = administrator == 0 ? "root" : administrator.description
            findings.append(
                Ailment(
                    path.description, "\(what): it does not belong to \(owner)",
                    .command(["sudo", "chown", owner], on: path)))
        }
        if status.isWritableByAny {
            findings.append(
                Ailment(
                    path.description, "\(what): others than its owner can write it",
                    .command(["sudo", "chmod", "go-w"], on: path)))
        }
        return findings
    }
}
