internal import Preferences
internal import PropertyLists
internal import Queries
internal import SettingsSchema

extension StoreAccess {
    /// Returns a request that the schema of a domain declares.
    func storedRequest(_ name: String, of word: String) throws -> QueryDeclaration {
        let domain = try domain(word)
        let schema = try installedSchema(mustBeThereFor: domain, hint: "")
        guard let request = schema.queries.first(where: { $0.name == name }) else {
            let known = schema.queries.map(\.name)
            throw CommandFailure(
                .notFound,
                "\(word.onOneLine): unknown request @\(name.onOneLine)\(Suggestion.advice(name, among: known))")
        }
        return request
    }
}
