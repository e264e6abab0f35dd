internal import Platform

extension Machine {
    /// Calls `body`. If it fails because the folder is missing, makes the folder and calls it again.
    @inline(__always)
    func makingFolder<Result>(
        _ folder: FilePath, for audience: Audience = .owner, _ body: () throws(SystemFailure) -> Result
    ) throws(SystemFailure) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch  where error.code == .noSuchFile {
            try fileSystem.makeFolders(folder, for: audience)
            return try body()
        }
    }
}
