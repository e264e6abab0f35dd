internal import Platform
internal import Preferences

extension DoctorCheck {
    /// Whether the kernel reports changes, or the files must be polled.
    static let watching = DoctorCheck(subject: "watching") { checkup in
        let watch = checkup.machine.watcher.watch(checkup.user.folder) { _ in }
        defer { watch.cancel() }
        guard case .polling(let reason) = watch.means else { return [] }
        let place = checkup.user.folder.description
        switch reason {
        case .remoteFileSystem:
            return [
                DoctorFinding(
                    place, "is on another machine: changes are noticed up to two seconds late",
                    .advice("set XDG_CONFIG_HOME to a folder on a local disk"))
            ]
        case .noWatches(let code):
            return [
                DoctorFinding(
                    place, "no watches are available (\(code)): changes are noticed up to two seconds late",
                    remedy(forNoWatches: code))
            ]
        case .chosen:
            return [
                DoctorFinding(
                    place, "is polled, as requested",
                    .advice("nothing to be done"))
            ]
        }
    }

    private static func remedy(forNoWatches code: ErrorCode) -> DoctorFinding.Remedy {
        switch code {
        case .noSpace: .command(["sudo", "sysctl", "fs.inotify.max_user_watches=524288"])
        case .tooManyOpenFiles: .command(["sudo", "sysctl", "fs.inotify.max_user_instances=1024"])
        default: .advice("nothing to be done: no settings are at risk")
        }
    }

    /// Variables that are ignored because they contain a relative path.
    static let variables = DoctorCheck(subject: "variables") { checkup in
        let variables = checkup.machine.environment.variables
        let single = [Variable.configHome, .stateHome, .dataHome].map(\.rawValue).compactMap { name -> DoctorFinding? in
            guard let value = variables[name], !value.isEmpty, !value.hasPrefix("/") else { return nil }
            return DoctorFinding(name, "ignored, since it is a relative path: \(value)", .command(["unset", name]))
        }
        let lists = [Variable.configFolders, .dataFolders].map(\.rawValue).compactMap { name -> DoctorFinding? in
            let folders = (variables[name] ?? "").split(separator: ":").map(String.init)
            let relative = folders.filter { !$0.hasPrefix("/") }
            guard !relative.isEmpty else { return nil }
            let rest = folders.filter { $0.hasPrefix("/") }.joined(separator: ":")
            return DoctorFinding(
                name, "has relative paths, which are ignored: \(relative.joined(separator: ":"))",
                .command(rest.isEmpty ? ["unset", name] : ["export", "\(name)=\(rest)"]))
        }
        return single + lists
    }
}
