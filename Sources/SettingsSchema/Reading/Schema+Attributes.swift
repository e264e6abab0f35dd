internal import PropertyLists

extension Schema {
    /// The maximum number of settings in a list, and of errors reported.
    static let maximumSettings = 10_000
    static let maximumDiagnostics = 1000

    /// The attributes of a schema, in the order in which they are written.
    static let attributes: [Attribute<Schema>] = [
        Attribute(name: "Domain") { value, schema, place in
            guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
            schema.domain = text
        } write: { schema in
            schema.isStored ? .string(schema.domain) : nil
        },
        .text("Program", { $1(&$0.program) }), .text("ProgramVersion", { $1(&$0.programVersion) }),
        .text("VersionShort", { $1(&$0.versionShort) }),
        .text("Title", { $1(&$0.title) }), .text("Summary", { $1(&$0.summary) }),
        Attribute(name: "Version") { value, schema, place in
            guard let version = value.count, version >= 1 else {
                return place.report(.wrongValue(expected: "a count such as 1"))
            }
            schema.version = version
        } write: { schema in
            schema.version == 1 ? nil : .integer(PropertyList.Integer(schema.version))
        },
        .names("Extends", { $1(&$0.extends) }), .flag("Closed", { $1(&$0.isClosed) }),
        .operandCount({ $1(&$0.operands) }), .flag("Strict", { $1(&$0.isStrict) }),
        .flag("Exact", { $1(&$0.isExact) }), .flag("Interleaved", { $1(&$0.isInterleaved) }, preset: true),
        settingsAttribute({ $1(&$0.settings) }),
        commandsAttribute({ $1(&$0.commands) }), .text("DefaultCommand", { $1(&$0.defaultCommand) }),
        .names("Examples", { $1(&$0.examples) }), .text("Epilogue", { $1(&$0.epilogue) }),
        Attribute(name: "Migrations") { value, schema, place in
            schema.migrations = place.readEach(value) { value, place in
                var migration = Migration(from: 0)
                place.read(value, into: &migration, by: Migration.attributes)
                if value.dictionaryValue != nil, value["From"] == nil { place.report(.missingAttribute("From")) }
                return migration
            }
        } write: { schema in
            schema.migrations.isEmpty ? nil : .array(schema.migrations.map { Migration.attributes.written($0) })
        },
        Attribute(name: "Queries") { value, schema, place in
            schema.queries = place.readEach(value) { value, place in
                var query = QueryDeclaration()
                place.read(value, into: &query, by: QueryDeclaration.attributes)
                if value.dictionaryValue != nil, value["Name"] == nil { place.report(.missingAttribute("Name")) }
                return query
            }
        } write: { schema in
            schema.queries.isEmpty ? nil : .array(schema.queries.map { QueryDeclaration.attributes.written($0) })
        },
    ]

    /// The names of all attributes, by the type of their owner. Used to check that the manual describes them all.
    package static var attributeNames: [String: [String]] {
        [
            "schema": attributes.map(\.name), "setting": SettingDeclaration.attributes.map(\.name),
            "command": Command.attributes.map(\.name), "migration": Migration.attributes.map(\.name),
            "query": QueryDeclaration.attributes.map(\.name),
        ]
    }

    fileprivate static func settingsAttribute<Model>(
        _ part: @escaping Access<Model, [SettingDeclaration]>
    ) -> Attribute<Model> {
        Attribute(name: "Settings") { value, model, place in
            let settings = place.readEach(value) { SettingDeclaration.read($0, &$1) }
            part(&model) { $0 = settings }
        } write: { model in
            let settings = Attribute<Model>.value(of: part, in: model) ?? []
            return settings.isEmpty ? nil : .array(settings.map { SettingDeclaration.attributes.written($0) })
        }
    }
}

extension Schema {
    /// The maximum nesting depth of commands.
    static let maximumCommandDepth = 8

    fileprivate static func commandsAttribute<Model>(_ part: @escaping Access<Model, [Command]>) -> Attribute<Model> {
        Attribute(name: "Commands") { value, model, place in
            guard place.path.components.count < 2 * maximumCommandDepth else {
                return place.report(.nestedTooDeeply(limit: maximumCommandDepth))
            }
            let commands = place.readEach(value) { value, place in
                var command = Command("")
                place.read(value, into: &command, by: Command.attributes)
                if value.dictionaryValue != nil, value["Name"] == nil { place.report(.missingAttribute("Name")) }
                return command
            }
            part(&model) { $0 = commands }
        } write: { model in
            let commands = Attribute<Model>.value(of: part, in: model) ?? []
            return commands.isEmpty ? nil : .array(commands.map { Command.attributes.written($0) })
        }
    }
}

extension Attribute {
    /// A number of operands: 2, or a range such as 1...3 or 1... .
    static func operandCount(_ part: @escaping Access<Model, ClosedRange<Int>?>) -> Attribute {
        Attribute(name: "Operands") { value, model, place in
            let range = value.count.map { $0...$0 } ?? value.stringValue.flatMap(Schema.operandRange)
            guard let range else { return place.report(.wrongValue(expected: "a count such as 2, 1...3 or 1...")) }
            part(&model) { $0 = range }
        } write: { model in
            guard let range = value(of: part, in: model) ?? nil else { return nil }
            guard range.lowerBound < range.upperBound else { return .integer(PropertyList.Integer(range.lowerBound)) }
            return .string("\(range.lowerBound)...\(range.upperBound == .max ? "" : "\(range.upperBound)")")
        }
    }
}

extension Schema {
    /// Parses `1...3` or `1...`. Two dots mean the same.
    fileprivate static func operandRange(_ text: String) -> ClosedRange<Int>? {
        guard let dots = text.firstRange(of: "...") ?? text.firstRange(of: "..") else { return nil }
        let (lower, upper) = (text[..<dots.lowerBound], text[dots.upperBound...])
        guard let least = Int(lower), least >= 0 else { return nil }
        guard let most = upper.isEmpty ? .max : Int(upper), most >= least else { return nil }
        return least...most
    }
}

extension Schema.Command {
    static let attributes: [Attribute<Schema.Command>] = [
        Attribute(name: "Name") { value, command, place in
            guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
            command.name = text
        } write: { command in
            .string(command.name)
        },
        .names("Aliases", { $1(&$0.aliases) }), .text("Title", { $1(&$0.title) }),
        .text("Summary", { $1(&$0.summary) }), .text("Group", { $1(&$0.group) }),
        .flag("Hidden", { $1(&$0.isHidden) }), .operandCount({ $1(&$0.operands) }),
        Schema.settingsAttribute({ $1(&$0.settings) }),
        Schema.commandsAttribute({ $1(&$0.commands) }), .text("DefaultCommand", { $1(&$0.defaultCommand) }),
        .names("Examples", { $1(&$0.examples) }), .text("Epilogue", { $1(&$0.epilogue) }),
    ]
}

extension Schema.Migration {
    static let attributes: [Attribute<Schema.Migration>] = [
        Attribute(name: "From") { value, migration, place in
            guard let version = value.count, version >= 1 else {
                return place.report(.wrongValue(expected: "a count such as 1"))
            }
            migration.from = version
        } write: { migration in
            .integer(PropertyList.Integer(migration.from))
        },
        Attribute(name: "Rename") { value, migration, place in
            migration.renames = place.pairs(value).map { Rename(old: $0.key, new: $0.value) }
        } write: { migration in
            pairs(migration.renames.map { ($0.old, $0.new) })
        },
        .names("Remove", { $1(&$0.removals) }),
        Attribute(name: "Convert") { value, migration, place in
            for (key, name) in place.pairs(value) {
                place.inside(EntryPath.Component(key)) { place in
                    guard let type = ValueType(rawValue: name) else {
                        let nearest = ValueType.allCases.map(\.rawValue).nearest(to: name)
                        return place.report(.unknownName(name, nearest: nearest))
                    }
                    migration.conversions.append(Conversion(key: key, type: type))
                }
            }
        } write: { migration in
            pairs(migration.conversions.map { ($0.key, $0.type.rawValue) })
        },
    ]

    private static func pairs(_ pairs: [(String, String)]) -> PropertyList? {
        pairs.isEmpty ? nil : .dictionary(PropertyList.Dictionary(pairs.map { ($0.0, .string($0.1)) }))
    }
}

extension AttributeReader {
    /// Returns the entries of a dictionary of strings.
    fileprivate mutating func pairs(_ value: PropertyList) -> [(key: String, value: String)] {
        guard let entries = value.dictionaryValue else {
            report(.wrongValue(expected: "a dictionary"))
            return []
        }
        return entries.compactMap { entry in
            inside(EntryPath.Component(entry.key)) { place in
                guard let text = entry.value.stringValue else {
                    place.report(.wrongValue(expected: "a string"))
                    return nil
                }
                return (entry.key, text)
            }
        }
    }
}
