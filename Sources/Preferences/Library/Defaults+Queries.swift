internal import PropertyLists
internal import Queries
internal import Synchronization

extension Defaults {
    /// Returns the records of the values in effect that satisfy a query. Throws if the query cannot be evaluated.
    ///
    ///     let query = try Query(where: "read == NO", over: ["messages"], sort: "-date")
    ///     for record in try defaults.records(matching: query) { … }
    public func records(matching query: Query) throws(Query.Predicate.Failure) -> [Query.Record] {
        var values = refreshed(\.values)
        values.removeAll(where: \.key.isHidden)
        return try PropertyList.dictionary(values).records(matching: query)
    }

    /// Returns the records that satisfy a query, first the current ones and then those after each change. The stream
    /// ends with an error if the query cannot be evaluated.
    public func changes(of query: Query) -> AsyncThrowingStream<[Query.Record], any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: [Query.Record].self)
        let last = Mutex<[Query.Record]?>(nil)
        let look = { @Sendable (defaults: Defaults) in
            last.withLock { last in
                do throws(Query.Predicate.Failure) {
                    let records = try defaults.records(matching: query)
                    guard records != last else { return }
                    last = records
                    continuation.yield(records)
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
        let observation = observe { [weak self] _ in if let self { look(self) } }
        continuation.onTermination = { _ in observation.cancel() }
        look(self)
        return stream
    }
}
