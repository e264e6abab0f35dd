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
                    place, "lies on another machine: changes are seen up to two seconds late",
                    .advice("keep the settings on a disk of this machine, by XDG_CONFIG_HOME"))
            ]
        case .noWatches(let code):
            return [
                DoctorFinding(
                    place, "the system has no watch to give (\(code)): changes are seen up to two seconds late",
                    remedy(forNoWatches: code))
            ]
        case .chosen:
            return [
                DoctorFinding(
                    place, "is looked at again and again, since that was asked for",
                    .advice("nothing to be done"))
            ]
        }
    }

    private static func remedy(forNoWatches code: ErrorCode) -> DoctorFinding.Remedy {
        switch code {
        case .noSpace: .command(["sudo", "sysctl", "fs.inotify.max_user_watches=524288"])
        case .tooManyOpenFiles: .command(["sudo", "sysctl", "fs.inotify.max_user_instances=1024"])
        default: .advice("nothing to be done: settings are as safe as ever")
        }
    }

    /// Variables that are ignored because they contain a relative path.
    static let variables = DoctorCheck(subject: "variables") { checkup in
        let variables = checkup.machine.environment.variables
        let single = [Variable.configHome, .stateHome, .dataHome].map(\.rawValue).compactMap { name -> DoctorFinding? in
            guard let value = variables[name], !value.isEmpty, !value.hasPrefix("/") else { return nil }
            return DoctorFinding(name, "a relative path, which does not count: \(value)", .command(["unset", name]))
        }
        let lists = [Variable.configFolders, .dataFolders].map(\.rawValue).compactMap { name -> DoctorFinding? in
            let folders = (variables[name] ?? "").split(separator: ":").map(String.init)
            let relative = folders.filter { !$0.hasPrefix("/") }
            guard !relative.isEmpty else { return nil }
            let rest = folders.filter { $0.hasPrefix("/") }.joined(separator: ":")
            return DoctorFinding(
                name, "has relative paths, which do not count: \(relative.joined(separator: ":"))",
                .command(rest.isEmpty ? ["unset", name] : ["export", "\(name)=\(rest)"]))
        }
        return single + lists
    }
}
