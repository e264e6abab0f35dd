package import PropertyLists
internal import Queries
package import SettingsSchema

extension Schema {
    /// Returns the schema as a JSON Schema (draft 2020-12) for the domain in JSON.
    package func jsonSchema() -> PropertyList {
        var result: PropertyList.Dictionary = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .string("urn:prefs:\(domain)"),
            "type": "object",
        ]
        if !isStored { result["$id"] = nil }
        result["title"] = title.map { .string($0) }
        result["description"] = summary.map { .string($0) }
        (settings.filter { $0.storedAt == nil } + scopes).describeEntries(in: &result)
        if isClosed { close(&result) }
        return .dictionary(result)
    }

    /// Refuses undeclared keys. A domain may also contain settings of commands, former keys and the version.
    private func close(_ result: inout PropertyList.Dictionary) {
        var properties = result["properties"]?.dictionaryValue ?? [:]
        for setting in storedSettings {
            for key in setting.allKeys where properties[key] == nil { properties[key] = setting.jsonSchema }
        }
        if version > 1 { properties[Self.versionKey] = ["type": "integer"] }
        result["properties"] = .dictionary(properties)
        result["additionalProperties"] = false
    }

    package func jsonSchemaText() -> String { jsonSchema().documentInJSON }
}

extension PropertyList {
    /// A description in JSON, with its entries in order.
    var documentInJSON: String {
        var options = WritingOptions()
        options.isPretty = true
        options.keepsKeyOrder = true
        options.coerces = true
        guard let data = try? serialized(as: .json, options: options) else { return "{}\n" }
        let text = String(decoding: data, as: UTF8.self)
        return text.hasSuffix("\n") ? text : text + "\n"
    }
}

extension [SettingDeclaration] {
    /// Adds the properties and their relations to an object schema.
    fileprivate func describeEntries(in result: inout PropertyList.Dictionary) {
        result["properties"] = .dictionary(PropertyList.Dictionary(map { ($0.key, $0.jsonSchema) }))
        let required = filter(\.requiresValue).map { PropertyList.string($0.key) }
        if !required.isEmpty { result["required"] = .array(required) }
        let needs = filter { !$0.requires.isEmpty }
        if !needs.isEmpty {
            result["dependentRequired"] = .dictionary(
                PropertyList.Dictionary(needs.map { ($0.key, .array($0.requires.map { .string($0) })) }))
        }
        let relations = flatMap { setting -> [PropertyList] in
            let conflicts = setting.conflicts.map { other -> PropertyList in
                ["not": ["required": [.string(setting.key), .string(other)]]]
            }
            return conflicts
                + setting.wholeGroups.map { group in
                    let single = group.keys.map { PropertyList.dictionary(["required": [.string($0)]]) }
                    return switch group.number {
                    case .exactlyOne: ["oneOf": .array(single)]
                    case .atMostOne: ["oneOf": .array(single + [["not": ["anyOf": .array(single)]]])]
                    case .atLeastOne: ["anyOf": .array(single)]
                    }
                }
        }
        if !relations.isEmpty { result["allOf"] = .array(relations) }
    }
}

extension SettingDeclaration {
    fileprivate var jsonSchema: PropertyList {
        var result = rule.jsonSchema
        result["title"] = title.map { .string($0) }
        result["description"] = summary.map { .string($0) }
        // Readers of JSON Schema do not expand a tilde.
        if !hasSecrets, !isDefaultInHome { result["default"] = defaultValue }
        if deprecated != nil { result["deprecated"] = true }
        if isSensitive { result["writeOnly"] = true }
        return .dictionary(result)
    }
}

extension ValueRule {
    fileprivate var jsonSchema: PropertyList.Dictionary {
        var result: PropertyList.Dictionary = [:]
        result["type"] = jsonType.map { .string($0) }
        func put(_ name: String, _ count: Int?) { result[name] = count.map { .integer(PropertyList.Integer($0)) } }
        switch type {
        case .integer, .real:
            result["minimum"] = minimum
            result["maximum"] = maximum
        case .string:
            put("minLength", minimumLength)
            put("maxLength", maximumLength)
            result["pattern"] = pattern.map { .string("^(?:\($0.text))$") }
            result["format"] = (kind?.facts.jsonFormat).map { .string($0) }
        case .date: result["format"] = "date-time"
        case .data: result["contentEncoding"] = "base64"
        case .array:
            put("minItems", minimumCount)
            put("maxItems", maximumCount)
            if isUnique { result["uniqueItems"] = true }
            result["items"] = element.map { .dictionary($0.jsonSchema) }
        case .dictionary: describeDictionary(in: &result)
        case .boolean, .any: break
        }
        if !choices.isEmpty { result["enum"] = .array(choices) }
        return result
    }

    private func describeDictionary(in result: inout PropertyList.Dictionary) {
        result["minProperties"] = minimumCount.map { .integer(PropertyList.Integer($0)) }
        result["maxProperties"] = maximumCount.map { .integer(PropertyList.Integer($0)) }
        switch contents {
        case .anything: break
        case .each(let rule): result["additionalProperties"] = .dictionary(rule.jsonSchema)
        case .entries(let entries):
            entries.describeEntries(in: &result)
            result["additionalProperties"] = scope == .open ? nil : false
            // A command stores what it is given.
            if scope != nil { result["required"] = nil }
        }
    }

    /// The type, or nil for a value of any type.
    private var jsonType: String? {
        switch type {
        case .any: nil
        case .integer, .boolean, .array: type.rawValue
        case .real: "number"
        case .dictionary: "object"
        case .string, .date, .data: "string"
        }
    }
}
