public import PropertyLists

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Schema {
    /// Reads a schema from a property list in any format. Throws all its errors.
    ///
    /// - Parameters:
    ///   - bytes: The schema.
    ///   - findSchema: Returns the schema of a domain that this one extends, or nil if there is none.
    public init(
        parsing bytes: some Collection<UInt8>, extending findSchema: (String) -> Schema? = { _ in nil }
    ) throws(Mistakes) {
        let (schema, mistakes) = Self.read(bytes, extending: findSchema)
        guard mistakes.isEmpty, let schema else { throw Mistakes(mistakes) }
        self = schema
    }

    /// The place in which a schema is declared.
    package enum Source: Hashable, Sendable {
        case file
        /// A file that a script names.
        case fileOfScript
        /// The comments at the beginning of a script.
        case head
    }

    /// Reads as much of a schema as possible, and returns all its errors.
    ///
    /// - Parameters:
    ///   - shell: The shell of the script, which reserves variables.
    ///   - checks: Whether to check the declarations against each other. A script that runs often skips these checks,
    ///     which makes its start 10% faster. Errors in reading are reported in any case.
    package static func read(
        _ bytes: some Collection<UInt8>, from source: Source = .file, for shell: ScriptOutput = .sh,
        checks: Bool = true, warns: Bool = false,
        extending findSchema: (String) throws -> Schema? = { _ in nil }
    ) -> (schema: Schema?, mistakes: [Mistake]) {
        let value: PropertyList
        do throws(DecodingFailure) {
            value = try PropertyList(parsing: bytes, options: .ofFiles)
        } catch {
            var mistake = Mistake(.notAPropertyList(error.problem), at: error.path)
            mistake.location = error.location(in: bytes)
            return (nil, [mistake])
        }
        let (schema, mistakes) = read(
            value, from: source, for: shell, checks: checks, warns: warns, extending: findSchema)
        return (schema, located(mistakes, in: Array(bytes)))
    }

    /// Returns errors with their locations in the text of a property list, in the order of the text.
    package static func located(_ mistakes: [Mistake], in text: [UInt8]) -> [Mistake] {
        guard !mistakes.isEmpty else { return [] }
        let locations = SourceMap(text)?.locations(of: mistakes.map(\.path), in: text) ?? [:]
        return located(mistakes) { locations[$0] }
    }

    package static func located(
        _ mistakes: [Mistake], _ location: (EntryPath) -> TextLocation?
    ) -> [Mistake] {
        mistakes.map { mistake in
            var mistake = mistake
            mistake.location = location(mistake.path)
            return mistake
        }.inOrderOfLocation
    }

    /// Returns a schema's own declarations, without inherited ones, for a schema that extends it. Throws the first
    /// error that may conceal a sensitive setting.
    package static func declared(in bytes: some Collection<UInt8>) throws(Mistake) -> Schema {
        let value: PropertyList
        do throws(DecodingFailure) {
            value = try PropertyList(parsing: bytes, options: .ofFiles)
        } catch {
            throw Mistake(.notAPropertyList(error.problem), at: error.path)
        }
        var reader = AttributeReader()
        var schema = Schema(domain: "")
        reader.read(value, into: &schema, by: attributes)
        schema.requireDomain(value, &reader)
        if let mistake = reader.mistakes.concealing { throw mistake }
        return schema.withoutUnnamed
    }

    /// Reads a schema from a property list value.
    ///
    /// - Parameters:
    ///   - shell: The shell of the script, which reserves variables.
    ///   - checks: Whether to check the declarations against each other.
    ///   - warns: Whether to report probable errors, too.
    package static func read(
        _ value: PropertyList, from source: Source = .file, for shell: ScriptOutput = .sh,
        checks: Bool = true, warns: Bool = false,
        extending findSchema: (String) throws -> Schema? = { _ in nil }
    ) -> (schema: Schema?, mistakes: [Mistake]) {
        var reader = AttributeReader(source)
        var schema = Schema(domain: "")
        reader.read(value, into: &schema, by: attributes)
        guard value.dictionaryValue != nil else { return (nil, reader.mistakes) }
        // A script need not store anything.
        if source == .file { schema.requireDomain(value, &reader) }
        let (resolved, missing) = schema.resolvingExtensions(findSchema)
        guard checks else { return (resolved.withoutUnnamed, reader.mistakes + missing) }
        // Checks do not repeat errors that the reader has reported, or their consequences.
        let reported = Set(reader.mistakes.flatMap { [$0.path, $0.path.appending("Key"), $0.path.appending("Name")] })
        let found =
            missing + (warns ? reader.findings : [])
            + schema.mistakes(inheriting: resolved, from: source, for: shell, warns: warns)
        return (resolved.withoutUnnamed, reader.mistakes + found.filter { !reported.contains($0.path) })
    }

    /// Reports a schema that has neither a domain nor settings.
    private func requireDomain(_ value: PropertyList, _ reader: inout AttributeReader) {
        guard value["Domain"] == nil, settings.isEmpty, commands.isEmpty else { return }
        reader.report(.missingAttribute("Domain"))
    }

    /// The schema as a property list.
    public var propertyList: PropertyList { Self.attributes.written(self) }

    /// Returns the contents of a schema file, for `prefs schema install`.
    ///
    /// Throws if a default or a choice is a date or data, and the format is JSON, which has neither.
    public func export(as format: PropertyList.Format = .xml) throws(EncodingFailure) -> Data {
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        return try propertyList.serialized(as: format, options: options)
    }
}

extension Schema {
    /// Returns the schema in the OpenStep text format, with the values as its authors write them.
    package func openStepText() throws(EncodingFailure) -> String {
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        options.keepsKeyOrder = true
        let text = String(
            decoding: try propertyList.withoutTypes.serialized(as: .openstep, options: options), as: UTF8.self)
        return text.hasSuffix("\n") ? text : text + "\n"
    }
}

extension PropertyList {
    /// The value with text in place of the types that OpenStep lacks.
    fileprivate var withoutTypes: PropertyList {
        switch self {
        case .string, .data: self
        case .boolean(let flag): .string(flag ? "YES" : "NO")
        case .array(let elements): .array(elements.map(\.withoutTypes))
        case .dictionary(let entries):
            .dictionary(PropertyList.Dictionary(entries.map { ($0.key, $0.value.withoutTypes) }))
        default: .string(plainText)
        }
    }
}

extension Schema {
    /// The schema without declarations that have no name because of errors.
    fileprivate var withoutUnnamed: Schema {
        var result = self
        result.settings.removeAll { $0.key.isEmpty }
        result.commands.removeAll { $0.name.isEmpty }
        result.migrations.removeAll { $0.from == 0 }
        result.queries.removeAll { $0.name.isEmpty }
        return result
    }
}

extension [Schema.Mistake] {
    /// The errors in the order of the text, followed by those without a location.
    package var inOrderOfLocation: [Schema.Mistake] {
        enumerated().sorted { a, b in
            let (x, y) = (a.element.location, b.element.location)
            let (first, second) = (
                (x?.line ?? .max, x?.column ?? .max, a.offset), (y?.line ?? .max, y?.column ?? .max, b.offset)
            )
            return first < second
        }.map(\.element)
    }
}

extension Schema {
    /// The maximum number of schemas that one schema can extend, directly and indirectly.
    static let maximumExtensions = 64

    /// Returns this schema with the settings and commands of those that it extends, which its own override.
    package func resolvingExtensions(
        _ findSchema: (String) throws -> Schema?
    ) -> (schema: Schema, mistakes: [Mistake]) {
        var resolution = Resolution()
        var schema = resolution.resolve(self, on: [domain], findSchema)
        schema.assignScopes()
        return (schema, resolution.mistakes)
    }
}

/// The recursive resolution of extended schemas.
private struct Resolution {
    var mistakes: [Schema.Mistake] = []
    var taken = 0

    /// Resolves a schema that the first one extends through these domains.
    ///
    /// - Parameter entry: The entry of the first schema that leads to this one, at which errors are reported.
    mutating func resolve(
        _ schema: Schema, on way: [String], from entry: Int? = nil, _ findSchema: (String) throws -> Schema?
    ) -> Schema {
        var result = schema
        result.extends = []
        for (index, domain) in schema.extends.enumerated().reversed() {
            let entry = entry ?? index
            guard let base = base(domain, at: entry, on: way, findSchema) else { continue }
            result.inherit(resolve(base, on: way + [domain], from: entry, findSchema))
        }
        return result
    }

    private mutating func base(
        _ domain: String, at entry: Int, on way: [String], _ findSchema: (String) throws -> Schema?
    ) -> Schema? {
        let path: EntryPath = ["Extends", EntryPath.Component(entry)]
        guard !way.contains(where: { $0.hasSameBytes(as: domain) }) else {
            mistakes.append(Schema.Mistake(.cycle(way + [domain]), at: path))
            return nil
        }
        guard taken < Schema.maximumExtensions else {
            mistakes.append(Schema.Mistake(.tooMany(limit: Schema.maximumExtensions), at: path))
            return nil
        }
        taken += 1
        do {
            if let base = try findSchema(domain) { return base }
            mistakes.append(Schema.Mistake(.missingSchema(domain), at: path))
        } catch {
            mistakes.append(Schema.Mistake(.unreadableSchema(domain, reason: "\(error)"), at: path))
        }
        return nil
    }
}

extension Schema {
    fileprivate mutating func inherit(_ base: Schema) {
        let keys = Set(settings.map { EntryPath.Component($0.key) })
        settings = base.settings.filter { !keys.contains(EntryPath.Component($0.key)) } + settings
        commands = base.commands.filter { row in !commands.contains { $0.name.hasSameBytes(as: row.name) } } + commands
        queries = base.queries.filter { row in !queries.contains { $0.name.hasSameBytes(as: row.name) } } + queries
    }
}
