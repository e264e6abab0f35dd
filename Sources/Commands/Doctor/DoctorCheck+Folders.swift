internal import Platform
internal import Preferences

extension DoctorCheck {
    /// Folders that the store must write to but cannot.
    static let folders = DoctorCheck(subject: "folders that cannot be written") { checkup in
        guard !checkup.user.file(of: StorePolicy.domain).isReadOnly else { return [] }
        var seen: Set<FilePath> = []
        var findings: [DoctorFinding] = []
        for folder in [checkup.user.history] + checkup.writtenFolders {
            guard let place = try existing(folder, checkup.files), seen.insert(place).inserted else { continue }
            if let finding = finding(place, checkup) { findings.append(finding) }
        }
        return findings
    }

    /// Returns the folder or its nearest existing ancestor.
    private static func existing(_ folder: FilePath, _ files: any FileSystem) throws -> FilePath? {
        var folder = folder
        while true {
            // A folder that cannot be inspected is inside one that cannot be used.
            if let status = try? files.status(of: folder), status.kind == .folder { return folder }
            guard folder.parent != folder else { return nil }
            folder = folder.parent
        }
    }

    private static func finding(_ folder: FilePath, _ checkup: DoctorContext) -> DoctorFinding? {
        // Root can write anywhere, and must not create even a temporary file in another user's folder.
        let owner = ((try? checkup.files.status(of: folder)) ?? nil)?.owner
        if checkup.machine.environment.user == 0, owner != 0 { return nil }
        do throws(SystemFailure) {
            try probe(folder, checkup.files)
            return nil
        } catch {
            let problem = "not writable: \(error.code)"
            return DoctorFinding(folder.description, problem, remedy(error.code, folder, checkup))
        }
    }

    /// Writes and removes a small file.
    private static func probe(_ folder: FilePath, _ files: any FileSystem) throws(SystemFailure) {
        let (path, file) = try files.makeTemporary(beside: folder.appending("settings"))
        let written = Result { () throws(SystemFailure) in
            try file.write([UInt8](repeating: 0, count: 4096), at: 0)
        }
        try files.remove(path)
        try written.get()
    }

    private static func remedy(_ code: ErrorCode, _ folder: FilePath, _ checkup: DoctorContext) -> DoctorFinding.Remedy
    {
        switch code {
        case .accessDenied, .notPermitted:
            let owner = ((try? checkup.files.status(of: folder)) ?? nil)?.owner
            let user = checkup.machine.environment.user
            return owner == user
                ? .command(["chmod", "u+rwx"], on: folder)
                : .command(["sudo", "chown", user.description], on: folder)
        case .noSpace, .overQuota: return .advice("free space on its file system: df -h \(folder)")
        case .readOnly: return .advice("its file system is mounted read-only: findmnt -T \(folder)")
        default: return .advice("inspect it: ls -ld \(folder)")
        }
    }
}
