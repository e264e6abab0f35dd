package import PropertyLists

/// An attribute of a schema, a setting or a command, with functions to read and write it.
///
/// Tables of attributes drive reading, writing and suggestions for misspelled names.
package struct Attribute<Model: Sendable>: Sendable {
    let name: String
    let read: @Sendable (_ value: PropertyList, _ model: inout Model, _ reader: inout AttributeReader) -> Void
    /// Returns the value to write, or nil if it is the default.
    let write: @Sendable (_ model: Model) -> PropertyList?
}

/// Gives access to a part of a model, for reading or changing it in place.
///
/// A key path would do the same, but creating one takes longer than reading a whole schema.
typealias Access<Whole, Value> = @Sendable (_ whole: inout Whole, _ body: (inout Value) -> Void) -> Void

/// The current position while reading, and the errors found so far.
package struct AttributeReader {
    var path = EntryPath()
    package var mistakes: [Schema.Mistake] = []
    /// Errors that only `schema check` and similar checks report, because earlier versions accepted them.
    var findings: [Schema.Mistake] = []
    let source: Schema.Source

    package init(_ source: Schema.Source = .file) { self.source = source }

    /// Whether the maximum number of errors has been reached.
    private var isFull: Bool { mistakes.count >= Schema.maximumDiagnostics }

    mutating func report(_ reason: Schema.Mistake.Reason) {
        guard !isFull else { return }
        mistakes.append(Schema.Mistake(reason, at: path))
    }

    mutating func find(_ reason: Schema.Mistake.Reason) { findings.append(Schema.Mistake(reason, at: path)) }

    /// Runs `body` with the path extended by a component.
    mutating func inside<Result>(_ component: EntryPath.Component, _ body: (inout AttributeReader) -> Result) -> Result
    {
        path.components.append(component)
        defer { path.components.removeLast() }
        return body(&self)
    }

    /// Returns whether rules or commands are nested more deeply than the limit, and reports it.
    mutating func isTooDeep(limit: Int) -> Bool {
        // A level takes at most two components: an attribute and an index.
        guard path.components.count >= 2 * limit else { return false }
        report(.nestedTooDeeply(limit: limit))
        return true
    }

    /// Reads the attributes of a dictionary by a table, and reports unknown ones.
    mutating func read<Model>(_ value: PropertyList, into model: inout Model, by table: [Attribute<Model>]) {
        guard case .dictionary(let entries) = value else { return report(.wrongValue(expected: "a dictionary")) }
        for row in table {
            guard let value = entries[row.name] else { continue }
            inside(EntryPath.Component(row.name)) { reader in row.read(value, &model, &reader) }
        }
        let names = table.map(\.name)
        for entry in entries where !isFull && !names.contains(entry.key) {
            inside(EntryPath.Component(entry.key)) { reader in
                reader.report(.unknownAttribute(entry.key, nearest: names.nearest(to: entry.key)))
            }
        }
    }

    /// Reads each element of an array.
    mutating func readEach<Model>(_ value: PropertyList, _ body: (PropertyList, inout AttributeReader) -> Model?)
        -> [Model]
    {
        guard case .array(let elements) = value else {
            report(.wrongValue(expected: "an array"))
            return []
        }
        guard elements.count <= Schema.maximumSettings else {
            report(.tooMany(limit: Schema.maximumSettings))
            return []
        }
        return elements.enumerated().compactMap { index, element in
            inside(EntryPath.Component(index)) { reader in body(element, &reader) }
        }
    }
}

extension Sequence {
    /// Writes a model as a dictionary.
    package func written<Model>(_ model: Model) -> PropertyList where Element == Attribute<Model> {
        .dictionary(PropertyList.Dictionary(compactMap { row in row.write(model).map { (row.name, $0) } }))
    }
}

// MARK: Kinds of attributes

extension Attribute {
    /// Returns a part of a model.
    static func value<Value>(of part: Access<Model, Value>, in model: Model) -> Value? {
        var (model, result) = (model, Value?.none)
        part(&model) { result = $0 }
        return result
    }

    static func text(_ name: String, _ part: @escaping Access<Model, String?>) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let text = value.stringValue else { return reader.report(.wrongValue(expected: "a string")) }
            part(&model) { $0 = text }
        } write: { model in
            (value(of: part, in: model) ?? nil).map { .string($0) }
        }
    }

    /// A text that is empty if the attribute is missing.
    static func requiredText(_ name: String, _ part: @escaping Access<Model, String>) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let text = value.stringValue else { return reader.report(.wrongValue(expected: "a string")) }
            part(&model) { $0 = text }
        } write: { model in
            value(of: part, in: model).flatMap { $0.isEmpty ? nil : .string($0) }
        }
    }

    static func flag(
        _ name: String, _ part: @escaping Access<Model, Bool>, preset: Bool = false
    ) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let flag = value.flag else { return reader.report(.wrongValue(expected: "true or false")) }
            part(&model) { $0 = flag }
        } write: { model in
            value(of: part, in: model) == preset ? nil : .boolean(!preset)
        }
    }

    static func optionalFlag(_ name: String, _ part: @escaping Access<Model, Bool?>) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let flag = value.flag else { return reader.report(.wrongValue(expected: "true or false")) }
            part(&model) { $0 = flag }
        } write: { model in
            (value(of: part, in: model) ?? nil).map { .boolean($0) }
        }
    }

    /// A version of settings, which is at least 1.
    static func version(_ name: String, _ part: @escaping Access<Model, Int>, preset: Int) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let version = value.count, version >= 1 else {
                return reader.report(.wrongValue(expected: "a count such as 1"))
            }
            part(&model) { $0 = version }
        } write: { model in
            value(of: part, in: model).flatMap { $0 == preset ? nil : .integer(PropertyList.Integer($0)) }
        }
    }

    static func count(_ name: String, _ part: @escaping Access<Model, Int?>) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let count = value.count else { return reader.report(.wrongValue(expected: "a count such as 1")) }
            part(&model) { $0 = count }
        } write: { model in
            (value(of: part, in: model) ?? nil).map { .integer(PropertyList.Integer($0)) }
        }
    }

    /// A mark of deprecation: true, or the reason.
    static func deprecated(_ part: @escaping Access<Model, String?>) -> Attribute {
        Attribute(name: "Deprecated") { value, model, reader in
            if let text = value.stringValue, Bool(word: text) == nil {
                part(&model) { $0 = text }
            } else if let flag = value.flag {
                part(&model) { $0 = flag ? "" : nil }
            } else {
                reader.report(.wrongValue(expected: "true, or the reason"))
            }
        } write: { model in
            (value(of: part, in: model) ?? nil).map { $0.isEmpty ? .boolean(true) : .string($0) }
        }
    }

    /// An attribute with one or several names.
    static func names(_ name: String, _ part: @escaping Access<Model, [String]>) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let names = value.names else {
                return reader.report(.wrongValue(expected: "a string, or an array of strings"))
            }
            part(&model) { $0 = names }
        } write: { model in
            let names = value(of: part, in: model) ?? []
            return names.isEmpty ? nil : names.count == 1 ? .string(names[0]) : .array(names.map { .string($0) })
        }
    }

    /// The number of names that an error lists.
    private static var mostListedNames: Int { 4 }

    /// An attribute with one name of a fixed set.
    static func name<Name: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ part: @escaping Access<Model, Name?>
    ) -> Attribute {
        Attribute(name: name) { value, model, reader in
            guard let text = value.stringValue else { return reader.report(.wrongValue(expected: "a string")) }
            guard let known = Name(rawValue: text) else {
                let names = Name.allCases.map(\.rawValue)
                let nearest = names.nearest(to: text)
                return reader.report(
                    nearest == nil && names.count <= mostListedNames
                        ? .wrongValue(expected: listed(names, "or")) : .unknownName(text, nearest: nearest))
            }
            part(&model) { $0 = known }
        } write: { model in
            (value(of: part, in: model) ?? nil).map { .string($0.rawValue) }
        }
    }

    /// An array of dictionaries, each with the required attribute `key`.
    static func list<Element>(
        _ name: String, _ part: @escaping Access<Model, [Element]>, of empty: Element,
        by table: @escaping @autoclosure @Sendable () -> [Attribute<Element>], requiring key: String
    ) -> Attribute {
        Attribute(name: name) { value, model, reader in
            let elements = reader.readEach(value) { value, reader in
                var element = empty
                reader.read(value, into: &element, by: table())
                if value.dictionaryValue != nil, value[key] == nil { reader.report(.missingAttribute(key)) }
                return element
            }
            part(&model) { $0 = elements }
        } write: { model in
            let elements = value(of: part, in: model) ?? []
            return elements.isEmpty ? nil : .array(elements.map { table().written($0) })
        }
    }

    /// Returns the attribute for a model that contains this one's.
    func lifted<Whole>(_ part: @escaping Access<Whole, Model>) -> Attribute<Whole> {
        Attribute<Whole>(name: name) { value, model, reader in
            part(&model) { read(value, &$0, &reader) }
        } write: { model in
            Attribute<Whole>.value(of: part, in: model).flatMap(write)
        }
    }
}

extension PropertyList {
    /// A non-negative integer, also as text, for formats that have only text.
    var count: Int? {
        let number = integerValue ?? stringValue.flatMap(PropertyList.Integer.init(word:))
        return number.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// A Boolean, also as text.
    package var flag: Bool? { booleanValue ?? stringValue.flatMap(Bool.init(word:)) }

    /// The elements of a string or an array of strings.
    package var names: [String]? {
        if let text = stringValue { return [text] }
        guard let elements = arrayValue else { return nil }
        let names = elements.compactMap(\.stringValue)
        return names.count == elements.count ? names : nil
    }
}
