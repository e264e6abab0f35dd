internal import PropertyLists
internal import Queries
package import SettingsSchema

extension Schema {
    /// Reads a JSON Schema, or the settings that an extension of Visual Studio Code declares in its `package.json`.
    /// Returns nil if the text is neither.
    ///
    /// - Parameter texts: The texts in place of `%name%`, from the `package.nls.json` of an extension.
    /// - Returns: The schema, and a warning for each part that it cannot express, with its place.
    package static func read(
        jsonSchema bytes: [UInt8], domain: String, texts: [UInt8]? = nil
    ) -> (schema: Schema, leftOut: [Mistake])? {
        guard let root = try? PropertyList(parsing: bytes, options: .ofFiles), root["Settings"] == nil,
            root["Domain"] == nil
        else { return nil }
        let texts = texts.flatMap { try? PropertyList(parsing: $0, options: .ofFiles) }?.dictionaryValue ?? [:]
        var reader = JSONSchemaReader(root, texts)
        let nodes = reader.objects()
        guard !nodes.isEmpty else { return nil }
        let value = reader.schema(of: nodes, domain: domain)
        let schema = reader.checked(value)
        return (schema, located(reader.leftOut.map(\.asWarning), in: bytes))
    }
}

extension Schema.Mistake {
    fileprivate var asWarning: Schema.Mistake {
        var warning = self
        warning.isWarning = true
        return warning
    }
}

/// Turns the parts of a JSON Schema into attributes of a schema.
private struct JSONSchemaReader {
    private let root: PropertyList
    private(set) var leftOut: [Schema.Mistake] = []
    /// The place of each setting in the JSON Schema.
    private var places: [EntryPath] = []
    /// The number of parts that may still be read. Parts can refer to each other again and again.
    private var budget = 20_000
    /// The texts in place of `%name%`.
    private let texts: PropertyList.Dictionary

    /// A part of the JSON Schema, and its place.
    struct Node {
        let value: PropertyList.Dictionary
        let path: EntryPath

        subscript(name: String) -> PropertyList? { value[name] }
    }

    init(_ root: PropertyList, _ texts: PropertyList.Dictionary) { (self.root, self.texts) = (root, texts) }

    /// The objects whose properties are the settings.
    mutating func objects() -> [Node] {
        let configuration: EntryPath = ["contributes", "configuration"]
        if let contributed = root[configuration] {
            let several = contributed.arrayValue ?? []
            let paths = several.isEmpty ? [configuration] : several.indices.map { configuration.inside(.init($0)) }
            return paths.compactMap { root[$0]?.dictionaryValue }.isEmpty ? [] : paths.compactMap(node)
        }
        let isSchema = root["$schema"]?.stringValue?.contains("json-schema.org") ?? false
        guard isSchema || root["properties"] != nil || root["$ref"] != nil, let node = node(EntryPath()) else {
            return []
        }
        return [resolved(node)]
    }

    private func node(_ path: EntryPath) -> Node? { root[path]?.dictionaryValue.map { Node(value: $0, path: path) } }

    private mutating func leave(_ text: String, at path: EntryPath) {
        leftOut.append(Schema.Mistake(.syntax(text), at: path))
    }

    // MARK: The whole

    mutating func schema(of nodes: [Node], domain: String) -> PropertyList {
        var schema: PropertyList.Dictionary = ["Domain": .string(domain)]
        let named = nodes.count == 1 ? nodes[0] : Node(value: [:], path: EntryPath())
        schema["Title"] = line(named["title"] ?? root["displayName"])
        schema["Summary"] = line(named["description"] ?? root["description"])
        if nodes.allSatisfy({ $0["additionalProperties"] == false && $0["patternProperties"] == nil }) {
            schema["Closed"] = true
        }
        var keys: Set<Name> = []
        var settings: [PropertyList] = []
        for node in nodes {
            for (key, child) in properties(of: node) where keys.insert(Name(key)).inserted {
                settings.append(.dictionary(setting(key, child, isRequired: node.requires(key))))
                places.append(child.path)
            }
            noteRest(node, besides: ["properties", "additionalProperties", "patternProperties"])
        }
        if budget <= 0 { schema["Closed"] = nil }
        schema["Settings"] = .array(settings)
        return .dictionary(schema)
    }

    /// Returns the schema without the attributes that are invalid.
    mutating func checked(_ value: PropertyList) -> Schema {
        var value = value
        while true {
            let (schema, mistakes) = Schema.read(value)
            let before = value
            var removed: Set<Int> = []
            // Later elements first, so that the indices of the others stay.
            for mistake in mistakes.sorted(by: { $0.path.isAfter($1.path) }) {
                let components = mistake.path.components
                guard components.count > 1, components[0] == "Settings", let index = components[1].index,
                    places.indices.contains(index), !removed.contains(index)
                else { continue }
                let isWhole = components.count < 3 || components[2] == "Key"
                _ = try? value.remove(at: EntryPath(Array(components.prefix(isWhole ? 2 : 3))))
                let attribute = isWhole ? "" : "\(components[2].text): "
                leave("\(attribute)\(mistake.reason)", at: places[index])
                guard isWhole else { continue }
                places.remove(at: index)
                removed.insert(index)
            }
            if let schema, mistakes.isEmpty || value == before { return schema }
            if value == before { return Schema(domain: "") }
        }
    }

    // MARK: Settings

    private mutating func properties(of node: Node) -> [(String, Node)] {
        let path = node.path.inside("properties")
        return (node["properties"]?.dictionaryValue ?? [:]).map { entry in
            let place = path.inside(.init(entry.key))
            return (entry.key, resolved(Node(value: entry.value.dictionaryValue ?? [:], path: place)))
        }
    }

    private mutating func setting(_ key: String, _ node: Node, isRequired: Bool) -> PropertyList.Dictionary {
        var setting = rule(node, depth: 0)
        setting["Key"] = .string(key)
        setting["Title"] = line(node["title"])
        let summary = line(node["description"] ?? node["markdownDescription"])?.stringValue
        // The program knows its defaults. In its file, a value that is missing is not stored.
        let preset = node["default"].flatMap { try? $0.serialized(as: .json) }
            .map { String(decoding: $0, as: UTF8.self).line }
        let isShort = preset.map { $0.count <= Self.longestDefault && $0 != "null" } ?? false
        let parts = [summary, isShort ? preset.map { "Default: \($0)" } : nil].compactMap(\.self)
        if !parts.isEmpty { setting["Summary"] = .string(parts.joined(separator: " ")) }
        if isRequired { setting["Required"] = true }
        takeName(key, &setting)
        if node["writeOnly"] == true { setting["Sensitive"] = true }
        if let reason = line(node["deprecationMessage"] ?? node["markdownDeprecationMessage"]) {
            setting["Deprecated"] = reason
        } else if node["deprecated"] == true {
            setting["Deprecated"] = true
        }
        return setting
    }

    private static let longestDefault = 60

    /// Keeps a key on its host if its name is that of a secret or a program, as without a declaration.
    private func takeName(_ key: String, _ setting: inout PropertyList.Dictionary) {
        if key.namesSecret {
            setting["Sensitive"] = true
        } else if key.namesProgram {
            setting["Mirrored"] = false
        }
    }

    private mutating func rule(_ node: Node, depth: Int) -> PropertyList.Dictionary {
        guard spend(at: node.path) else { return ["Type": .string(ValueType.any.rawValue)] }
        var type = type(of: node, depth: 0)
        var choices = choices(of: node)
        if type == .real, !choices.isEmpty {
            // A schema compares 1 and 1.0 by their types.
            if choices.allSatisfy({ $0.kind == .integer }) { type = .integer } else { choices = [] }
        }
        if choices.contains(.null) { choices = [] }
        var rule: PropertyList.Dictionary = ["Type": .string(type.rawValue)]
        if !choices.isEmpty { rule["Choices"] = .array(choices) }
        switch type {
        case .integer, .real: takeBounds(node, &rule, of: type)
        case .string:
            take("minLength", as: "MinimumLength", node, &rule)
            take("maxLength", as: "MaximumLength", node, &rule)
            if let pattern = node["pattern"]?.stringValue { rule["Pattern"] = .string(pattern.wholePattern) }
            let kind = ValueKind.allCases.first { kind in
                kind.facts.jsonFormat.map { .string($0) == node["format"] } ?? false
            }
            if let kind { rule["Kind"] = .string(kind.rawValue) }
        case .array:
            take("minItems", as: "MinimumCount", node, &rule)
            take("maxItems", as: "MaximumCount", node, &rule)
            if node["uniqueItems"] == true { rule["Unique"] = true }
            if let items = child(node, "items") {
                if let inner = inner(items, depth) { rule["Elements"] = inner }
            } else if node["items"] != nil {
                leave("items of several kinds have no counterpart", at: node.path)
            }
        case .dictionary: takeEntries(node, depth, &rule)
        case .boolean, .any, .date, .data: break
        }
        noteRest(
            node, besides: Self.expressed(by: type) + (choices.isEmpty ? [] : ["enum", "const", "anyOf", "oneOf"]))
        return rule
    }

    private func take(_ name: String, as attribute: String, _ node: Node, _ rule: inout PropertyList.Dictionary) {
        if let count = node[name]?.integerValue { rule[attribute] = .integer(count) }
    }

    private mutating func takeBounds(_ node: Node, _ rule: inout PropertyList.Dictionary, of type: ValueType) {
        for (name, exclusive, step, attribute) in [
            ("minimum", "exclusiveMinimum", 1, "Minimum"), ("maximum", "exclusiveMaximum", -1, "Maximum"),
        ] {
            rule[attribute] = node[name]
            guard let bound = node[exclusive], bound != false else { continue }
            // An earlier version of JSON Schema has a Boolean beside the bound.
            let value = bound == true ? node[name] : bound
            if type == .integer, let limit = value?.integerValue.flatMap({ Int(exactly: $0) }) {
                let (next, isBeyond) = limit.addingReportingOverflow(step)
                if !isBeyond { rule[attribute] = .integer(PropertyList.Integer(next)) }
            } else {
                leave("the bound itself is allowed in a schema", at: node.path.inside(.init(exclusive)))
                rule[attribute] = value
            }
        }
    }

    private mutating func takeEntries(_ node: Node, _ depth: Int, _ rule: inout PropertyList.Dictionary) {
        take("minProperties", as: "MinimumCount", node, &rule)
        take("maxProperties", as: "MaximumCount", node, &rule)
        guard node["properties"]?.dictionaryValue?.isEmpty == false else {
            if node["patternProperties"] == nil, let each = child(node, "additionalProperties"),
                let inner = inner(each, depth)
            {
                rule["Entries"] = inner
            }
            return
        }
        guard node["additionalProperties"] == false, node["patternProperties"] == nil else {
            return leave("its entries are left out, because it can have others", at: node.path)
        }
        guard depth < Self.deepest else { return }
        let entries = properties(of: node)
        guard budget > 0 else { return }
        rule["Entries"] = .array(
            entries.map { key, child in
                var entry = self.rule(child, depth: depth + 1)
                entry["Key"] = .string(key)
                takeName(key, &entry)
                entry["Title"] = line(child["title"])
                entry["Summary"] = line(child["description"])
                if node.requires(key) { entry["Required"] = true }
                return .dictionary(entry)
            })
    }

    /// Returns the rule of each element or entry, or nil if it allows any value.
    private mutating func inner(_ node: Node, _ depth: Int) -> PropertyList? {
        guard depth < Self.deepest else { return nil }
        let rule = rule(node, depth: depth + 1)
        return rule == ["Type": .string(ValueType.any.rawValue)] ? nil : .dictionary(rule)
    }

    private static let deepest = 12

    /// Counts a part, and returns whether it may be read.
    private mutating func spend(at path: EntryPath) -> Bool {
        budget -= 1
        if budget == 0 { leave("too many parts that refer to each other; the rest allows any value", at: path) }
        return budget > 0
    }

    /// Returns a text as one line, or nil if it is empty or missing.
    private func line(_ value: PropertyList?) -> PropertyList? {
        guard var text = value?.stringValue else { return nil }
        if text.hasPrefix("%"), text.hasSuffix("%") {
            let named = texts[String(text.dropFirst().dropLast())]
            guard let found = named?.stringValue ?? named?["message"]?.stringValue else { return nil }
            text = found
        }
        return text.line.isEmpty ? nil : .string(text.line)
    }

    // MARK: Types

    /// Returns the type of the values that a part allows, or any if there are several.
    private mutating func type(of node: Node, depth: Int) -> ValueType {
        let types = types(of: node, depth: depth)
        if types == ["integer", "number"] { return .real }
        guard types.count == 1 else { return .any }
        return switch types.first {
        case "string": .string
        case "integer": .integer
        case "number": .real
        case "boolean": .boolean
        case "array": .array
        case "object": .dictionary
        default: .any
        }
    }

    private mutating func types(of node: Node, depth: Int) -> Set<String> {
        guard depth == 0 || spend(at: node.path) else { return [] }
        if let names = node["type"]?.names { return Set(names) }
        let choices = choices(of: node)
        if !choices.isEmpty { return Set(choices.map(\.jsonType)) }
        for name in ["anyOf", "oneOf"] {
            guard let branches = node[name]?.arrayValue, depth < Self.deepest else { continue }
            return branches.enumerated().reduce(into: []) { types, branch in
                let path = node.path.inside(.init(name)).inside(.init(branch.offset))
                let value = resolved(Node(value: branch.element.dictionaryValue ?? [:], path: path))
                let inner = self.types(of: value, depth: depth + 1)
                types.formUnion(inner.isEmpty ? ["any"] : inner)
            }
        }
        if node["properties"] != nil || node["additionalProperties"]?.dictionaryValue != nil { return ["object"] }
        return node["items"] != nil ? ["array"] : []
    }

    /// Returns the allowed values, also those of alternatives that are nothing but values.
    private mutating func choices(of node: Node) -> [PropertyList] {
        if let value = node["const"] { return [value] }
        if let values = node["enum"]?.arrayValue { return values }
        for name in ["oneOf", "anyOf"] {
            guard let branches = node[name]?.arrayValue else { continue }
            let values = branches.map { branch in branch["const"].map { [$0] } ?? branch["enum"]?.arrayValue ?? [] }
            if values.allSatisfy({ !$0.isEmpty }) { return values.flatMap(\.self) }
        }
        return []
    }

    // MARK: References

    private mutating func child(_ node: Node, _ name: String) -> Node? {
        node[name]?.dictionaryValue.map { resolved(Node(value: $0, path: node.path.inside(.init(name)))) }
    }

    /// Returns a part with what it refers to, and with the parts that must all hold.
    private mutating func resolved(_ node: Node) -> Node {
        guard node["$ref"] != nil || node["allOf"] != nil else { return node }
        var (value, open, references) = (node.value, [node.value], Set<Name>())
        while let next = open.popLast(), spend(at: node.path) {
            var parts = (next["allOf"]?.arrayValue ?? []).compactMap(\.dictionaryValue)
            if let reference = next["$ref"]?.stringValue, references.insert(Name(reference)).inserted {
                let target = reference.pointer.flatMap { root[$0]?.dictionaryValue }
                if target == nil { leave("\(shortened(reference)): not in this file", at: node.path.inside("$ref")) }
                parts += target.map { [$0] } ?? []
            }
            for part in parts {
                join(part, to: &value, at: node.path)
                open.append(part)
            }
        }
        return Node(value: value, path: node.path)
    }

    /// Adds a part that must hold, too. An attribute next to a reference replaces the one of the reference. Properties
    /// are joined.
    private mutating func join(
        _ part: PropertyList.Dictionary, to value: inout PropertyList.Dictionary, at path: EntryPath
    ) {
        let bounds = ["exclusiveMinimum": value["minimum"], "exclusiveMaximum": value["maximum"]]
        for entry in part where !["allOf", "$ref", "properties", "required"].contains(entry.key) {
            // A flag belongs to the bound next to it.
            if entry.value.booleanValue != nil, bounds[entry.key] ?? nil != nil { continue }
            if value[entry.key] == nil {
                value[entry.key] = entry.value
            } else if value[entry.key] != entry.value, Self.conditions.contains(entry.key) {
                leave("\(entry.key) has several values, of which one is used", at: path)
            }
        }
        if let own = part["properties"]?.dictionaryValue {
            var all = value["properties"]?.dictionaryValue ?? [:]
            for entry in own where all[entry.key] == nil { all[entry.key] = entry.value }
            value["properties"] = .dictionary(all)
        }
        if let own = part["required"]?.arrayValue {
            value["required"] = .array((value["required"]?.arrayValue ?? []) + own)
        }
    }

    /// Notes the conditions of a part that a schema cannot express.
    private mutating func noteRest(_ node: Node, besides expressed: [String]) {
        for name in Self.conditions where node[name] != nil && !expressed.contains(name) {
            leave("\(name) has no counterpart", at: node.path)
        }
    }

    /// The attributes that restrict a value.
    private static let conditions = [
        "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
        "maxLength", "pattern", "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems",
        "contains", "minContains", "maxContains", "properties", "additionalProperties", "patternProperties",
        "propertyNames", "minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas",
        "unevaluatedProperties", "unevaluatedItems", "anyOf", "oneOf", "not", "if",
    ]

    /// The attributes that become those of a setting of a type.
    private static func expressed(by type: ValueType) -> [String] {
        switch type {
        case .integer, .real: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
        case .string: ["minLength", "maxLength", "pattern"]
        case .array: ["items", "minItems", "maxItems", "uniqueItems"]
        case .dictionary: ["properties", "additionalProperties", "minProperties", "maxProperties"]
        case .boolean, .any, .date, .data: []
        }
    }
}

extension JSONSchemaReader.Node {
    fileprivate func requires(_ key: String) -> Bool { value["required"]?.arrayValue?.contains(.string(key)) ?? false }
}

extension EntryPath {
    fileprivate func inside(_ component: Component) -> EntryPath { EntryPath(components + [component]) }

    /// Whether this path is later in an array than another one with the same beginning.
    fileprivate func isAfter(_ other: EntryPath) -> Bool {
        let pairs = zip(components, other.components)
        guard let (own, others) = pairs.first(where: { $0 != $1 }) else {
            return components.count > other.components.count
        }
        return own.index ?? 0 > others.index ?? 0
    }
}

extension PropertyList {
    fileprivate var jsonType: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .real: "number"
        case .array: "array"
        case .dictionary: "object"
        default: "string"
        }
    }
}

extension String {
    fileprivate var line: String {
        unicodeScalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
            .map { String($0) }.joined(separator: " ")
    }

    /// The path of a reference within its file: `#/definitions/color`.
    fileprivate var pointer: EntryPath? {
        guard hasPrefix("#") else { return nil }
        let parts = dropFirst().split(separator: "/", omittingEmptySubsequences: true)
        return EntryPath(
            parts.map { part in
                .init(
                    String(part).replacing("%24", with: "$").replacing("~1", with: "/").replacing("~0", with: "~"))
            })
    }

    /// The pattern that a whole text matches if this one is found in it.
    fileprivate var wholePattern: String {
        var branches = [""]
        var (depth, isEscaped, isInClass) = (0, false, false)
        var scalars = unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if isInClass {
                isInClass = scalar != "]"
            } else if scalar == "[" {
                isInClass = true
            } else if scalar == "(" {
                depth += 1
                if scalars.starts(with: "?:".unicodeScalars) { scalars = scalars.dropFirst(2) }
            } else if scalar == ")" {
                depth -= 1
            } else if scalar == "|", depth == 0 {
                branches.append("")
                continue
            } else if scalar == "$", depth == 0, scalars.isEmpty || scalars.first == "|" {
                branches[branches.count - 1] += Self.end
                continue
            }
            branches[branches.count - 1].unicodeScalars.append(scalar)
        }
        let any = "(.|\\n)*"
        return branches.map { branch in
            let (begins, ends) = (branch.hasPrefix("^"), branch.hasSuffix(Self.end))
            let inner = String(branch.dropFirst(begins ? 1 : 0).dropLast(ends ? 1 : 0))
            return begins && ends ? inner : (begins ? "" : any) + "(\(inner))" + (ends ? "" : any)
        }.joined(separator: "|")
    }

    /// An anchor at the end of a branch of a pattern, apart from a dollar sign that is a character.
    private static let end = "\0"
}
