public import PropertyLists

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Schema {
    /// Reads a schema from a property list in any format, and throws all that is wrong with it.
    ///
    /// - Parameter findSchema: Gives the schema of a domain that this one extends; nil where there is none.
    public init(
        parsing bytes: some Collection<UInt8>, extending findSchema: (String) -> Schema? = { _ in nil }
    ) throws(Mistakes) {
        let (schema, mistakes) = Self.read(bytes, extending: findSchema)
        guard mistakes.isEmpty, let schema else { throw Mistakes(mistakes) }
        self = schema
    }

    /// Reads a schema as far as it can be, and finds all that is wrong with it in one pass.
    ///
    /// - Parameter checks: Whether its declarations are held against one another. A script that runs every minute can
    ///   do without what its author was told once, and starts a tenth faster; what cannot be read is found all the
    ///   same.
    package static func read(
        _ bytes: some Collection<UInt8>, checks: Bool = true, extending findSchema: (String) -> Schema? = { _ in nil }
    ) -> (schema: Schema?, mistakes: [Mistake]) {
        let value: PropertyList
        do throws(DecodingFailure) {
            value = try PropertyList(parsing: bytes)
        } catch {
            var mistake = Mistake(.notAPropertyList(error.problem), at: error.path)
            mistake.location = error.location(in: bytes)
            return (nil, [mistake])
        }
        let (schema, mistakes) = read(value, checks: checks, extending: findSchema)
        guard !mistakes.isEmpty else { return (schema, []) }
        let locator = EntryLocator(Array(bytes), for: mistakes.map(\.path))
        let placed = mistakes.map { mistake in
            var mistake = mistake
            mistake.location = locator?.location(of: mistake.path)
            return mistake
        }
        return (schema, placed.inOrderOfPlace)
    }

    /// What a schema declares itself, without those that it extends; nil for what is none.
    package static func declared(in bytes: some Collection<UInt8>) -> Schema? {
        guard let value = try? PropertyList(parsing: bytes), value.dictionaryValue != nil else { return nil }
        var place = AttributePlace()
        var schema = Schema(domain: "")
        place.read(value, into: &schema, by: attributes)
        return schema.withoutNameless
    }

    /// Reads a schema from a value.
    package static func read(
        _ value: PropertyList, checks: Bool = true, extending findSchema: (String) -> Schema? = { _ in nil }
    ) -> (schema: Schema?, mistakes: [Mistake]) {
        var place = AttributePlace()
        var schema = Schema(domain: "")
        place.read(value, into: &schema, by: attributes)
        guard value.dictionaryValue != nil else { return (nil, place.mistakes) }
        if value["Domain"] == nil { place.report(.missingAttribute("Domain")) }
        let (resolved, missing) = schema.resolvingExtensions(findSchema)
        guard checks else { return (resolved.withoutNameless, place.mistakes + missing) }
        // What the reader has said already is not said again by the checks, nor what follows from a missing name.
        let said = Set(place.mistakes.flatMap { [$0.path, $0.path.appending("Key"), $0.path.appending("Name")] })
        let found = missing + schema.mistakes(inheriting: resolved)
        return (resolved.withoutNameless, place.mistakes + found.filter { !said.contains($0.path) })
    }

    /// The schema as the property list that a file would hold.
    public var propertyList: PropertyList { Self.attributes.written(self) }

    /// The bytes of a file that holds the schema, for `prefs schema install` and whoever else is to know it.
    ///
    /// JSON has no dates and no data; a schema with such a value is refused there.
    public func export(as format: PropertyList.Format = .xml) throws(EncodingFailure) -> Data {
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        return try propertyList.serialized(as: format, options: options)
    }
}

extension Schema {
    /// The schema without what could not be read well enough to have a name.
    fileprivate var withoutNameless: Schema {
        var result = self
        result.settings.removeAll { $0.key.isEmpty }
        result.commands.removeAll { $0.name.isEmpty }
        result.migrations.removeAll { $0.from == 0 }
        return result
    }
}

extension [Schema.Mistake] {
    /// As a reader of the text comes by them; those without a place stay where they are, behind.
    fileprivate var inOrderOfPlace: [Schema.Mistake] {
        enumerated().sorted { a, b in
            let (x, y) = (a.element.location, b.element.location)
            let (first, second) = (
                (x?.line ?? .max, x?.column ?? .max, a.offset), (y?.line ?? .max, y?.column ?? .max, b.offset)
            )
            return first < second
        }.map(\.element)
    }
}
