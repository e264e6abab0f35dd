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

    /// What the system refused, as a failure of this domain. What is to take the file's place has a name that tells
    /// nobody anything.
    func failure(_ failure: SystemFailure) -> StoreFailure {
        guard failure.path?.lastComponent?.isTemporary == true else { return StoreFailure(failure, name) }
        return StoreFailure(SystemFailure(failure.code, failure.operation, path), name)
    }
}
