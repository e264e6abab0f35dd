internal import Platform

extension DomainFile {
    /// What `body` returns. What the system refuses is thrown as a failure of this domain.
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

    /// What the system refused, as a failure of this domain.
    func failure(_ failure: SystemFailure) -> StoreFailure { StoreFailure(failure.naming(path), name) }
}
