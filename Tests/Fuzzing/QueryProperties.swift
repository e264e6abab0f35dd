internal import PropertyLists
internal import Queries

extension Target {
    /// A predicate is compiled, or rejected with a column within its text. A compiled predicate gives the same result
    /// if it is evaluated again, and its negation gives the opposite result.
    func checkQuery(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        guard bytes.count <= 4096 else { return }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let text = String(decoding: line, as: UTF8.self)
        let given = Array(bytes.dropFirst(line.count + 1))
        let value = (try? PropertyList(parsing: given)) ?? sampleRecord
        if let query = try? Query(sort: text) { _ = try? value.records(matching: query) }
        var limits = Query.Predicate.Limits()
        limits.steps = 100_000
        let predicate: Query.Predicate
        do throws(Query.Predicate.Failure) {
            predicate = try Query.Predicate(text, limits: limits)
        } catch {
            guard (1...text.unicodeScalars.count + 1).contains(error.column ?? 1) else {
                throw BrokenProperty(self, "a column outside the predicate")
            }
            return
        }
        let bound = try? predicate.bound(to: Dictionary(predicate.variables.map { ($0, "x") }) { a, _ in a })
        guard let bound, let result = try? bound.matches(value) else { return }
        guard (try? bound.matches(value)) == result else { throw BrokenProperty(self, "two results") }
        // One more level may be too deep.
        limits.depth += 1
        limits.textBytes += 8
        limits.steps += 1
        guard let negated = try? Query.Predicate("NOT (\(text))", limits: limits) else { return }
        guard bound.variables == negated.variables || !predicate.variables.isEmpty else {
            throw BrokenProperty(self, "a negation with other variables")
        }
        if predicate.variables.isEmpty, let opposite = try? negated.matches(value), opposite == result {
            throw BrokenProperty(self, "a negation with the same result")
        }
        // Fields that the predicate does not name do not affect its result.
        if let fields = bound.fields, case .dictionary(var entries) = value {
            entries.removeAll { !fields.contains($0.name) }
            if let part = try? bound.matches(.dictionary(entries)), part != result {
                throw BrokenProperty(self, "a result that depends on a field that is not named")
            }
        }
    }

    private var sampleRecord: PropertyList {
        [
            "a": 1, "b": "text é", "c": [1, "x", true, ["a": 2]], "d": ["a": ["b": [1, 2.5]]], "e": 1.5, "f": true,
            "font-size": 14,
        ]
    }
}
