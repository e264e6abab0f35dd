internal import Platform

extension DomainFile {
    /// Calls `body`, and converts an error of the system to a failure of this domain.
    @inline(__always)
    func reporting<Result>(
        _ body: () throws(SystemFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw failure(error)
        }
    }

    /// Converts an error of the system to a failure of this domain.
    func failure(_ failure: SystemFailure) -> StoreFailure { StoreFailure(failure.naming(path), name) }
}
