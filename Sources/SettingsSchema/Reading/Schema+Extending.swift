internal import PropertyLists

extension Schema {
    /// The maximum number of schemas that one schema can extend, directly and indirectly.
    static let maximumExtensions = 64

    /// Returns this schema with the settings and commands of those that it extends, which its own override.
    package func resolvingExtensions(
        _ findSchema: (String) -> Schema?
    ) -> (schema: Schema, mistakes: [Mistake]) {
        var resolution = Resolution()
        let schema = resolution.resolve(self, on: [domain], findSchema)
        return (schema, resolution.mistakes)
    }
}

/// The recursive resolution of extended schemas.
private struct Resolution {
    var mistakes: [Schema.Mistake] = []
    var taken = 0

    mutating func resolve(_ schema: Schema, on way: [String], _ findSchema: (String) -> Schema?) -> Schema {
        var result = schema
        result.extends = []
        for (index, domain) in schema.extends.enumerated().reversed() {
            guard let base = base(domain, at: index, on: way, findSchema) else { continue }
            result.takeIn(resolve(base, on: way + [domain], findSchema))
        }
        return result
    }

    private mutating func base(
        _ domain: String, at index: Int, on way: [String], _ findSchema: (String) -> Schema?
    ) -> Schema? {
        // Errors in indirectly extended schemas are reported at the entry of this schema that leads to them.
        let path: EntryPath = ["Extends", EntryPath.Component(index)]
        guard !way.contains(where: { $0.hasSameBytes(as: domain) }) else {
            mistakes.append(Schema.Mistake(.cycle(way + [domain]), at: path))
            return nil
        }
        guard taken < Schema.maximumExtensions else {
            mistakes.append(Schema.Mistake(.tooMany(limit: Schema.maximumExtensions), at: path))
            return nil
        }
        taken += 1
        guard let base = findSchema(domain) else {
            mistakes.append(Schema.Mistake(.missingSchema(domain), at: path))
            return nil
        }
        return base
    }
}

extension Schema {
    fileprivate mutating func takeIn(_ base: Schema) {
        let keys = Set(settings.map { EntryPath.Component($0.key) })
        settings = base.settings.filter { !keys.contains(EntryPath.Component($0.key)) } + settings
        commands = base.commands.filter { row in !commands.contains { $0.name.hasSameBytes(as: row.name) } } + commands
        queries = base.queries.filter { row in !queries.contains { $0.name.hasSameBytes(as: row.name) } } + queries
    }
}
