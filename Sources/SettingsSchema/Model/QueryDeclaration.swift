internal import PropertyLists
package import Queries

/// A request for records that a schema declares under a name.
package struct QueryDeclaration: Hashable, Sendable {
    package var name = ""
    package var title: String?
    /// The path of the records, `:messages`, or that in another domain, `com.example.people:contacts`.
    package var over: String?
    /// The predicate; nil to select all records.
    package var condition: String?
    package var sort: String?
}

extension QueryDeclaration {
    /// The other domain that has the records, if any.
    package var domain: String? { over.flatMap { $0.unicodeScalars.first == ":" ? nil : places($0).domain } }

    private func places(_ over: String) -> (domain: String, path: String) {
        let scalars = over.unicodeScalars
        let colon = scalars.firstIndex(of: ":") ?? scalars.endIndex
        return (String(scalars[..<colon]), String(scalars[colon...]))
    }

    /// Returns the path of the records; empty for the entries of the whole domain.
    private func path() throws(EntryPath.Failure) -> EntryPath {
        let path = over.map { places($0).path } ?? ""
        return path.isEmpty || path == ":" ? [] : try EntryPath(parsing: path)
    }

    /// Returns the compiled query.
    package func query() throws -> Query {
        try Query(where: condition ?? "TRUEPREDICATE", over: path(), sort: sort ?? "")
    }

    /// The attributes that are invalid, and the reasons.
    var faults: [(attribute: String, reason: String)] {
        var faults: [(String, String)] = []
        do throws(EntryPath.Failure) { _ = try path() } catch { faults.append(("Over", error.description)) }
        do throws(Query.Predicate.Failure) { _ = try Query(where: condition ?? "TRUEPREDICATE") } catch {
            faults.append(("Where", error.description))
        }
        do throws(Query.Predicate.Failure) { _ = try Query(sort: sort ?? "") } catch {
            faults.append(("Sort", error.description))
        }
        return faults
    }

    static let attributes: [Attribute<QueryDeclaration>] = [
        Attribute(name: "Name") { value, query, place in
            guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
            query.name = text
        } write: { query in
            .string(query.name)
        },
        .text("Title", { $1(&$0.title) }), .text("Over", { $1(&$0.over) }), .text("Where", { $1(&$0.condition) }),
        .text("Sort", { $1(&$0.sort) }),
    ]
}
