internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The objects of a keyed archive, and the values that objects of known classes represent.
struct ArchivedObjects {
    typealias Node = ArchiveReader.Node
    typealias Fields = PropertyList.Dictionary

    private let objects: [PropertyList]
    /// Whether the first object represents nil.
    private let hasNil: Bool

    init(_ objects: [PropertyList]) {
        self.objects = objects
        hasNil = objects.first == .string("$null")
    }

    var count: Int { objects.count }

    /// The position of the object with a number, or nil if there is no such object.
    func position(of reference: UInt64) -> Int? { reference < UInt64(objects.count) ? Int(reference) : nil }

    /// Returns the value that an object represents.
    func node(of index: Int) throws(KeyedArchive.Failure) -> Node {
        switch objects[index] {
        case .dictionary(let fields):
            let name = try className(of: fields, object: index)
            return try ArchivedForm(className: name)?.node(of: fields, in: self, name: name, object: index)
                ?? general(fields, name: name)
        case .array, .uid: throw KeyedArchive.Failure(.unexpectedKind(objects[index].kind), object: index)
        case .string where hasNil && index == 0: return .asIs(ArchiveKey.null)
        case let scalar: return .asIs(scalar)
        }
    }

    private func className(of fields: Fields, object: Int) throws(KeyedArchive.Failure) -> String {
        guard case .uid(let number)? = fields["$class"] else {
            throw KeyedArchive.Failure(.missingClass, object: object)
        }
        guard let position = position(of: number) else {
            throw KeyedArchive.Failure(.danglingReference(number, count: count), object: object)
        }
        guard case .string(let name)? = objects[position]["$classname"] else {
            throw KeyedArchive.Failure(.invalidClass(position), object: object)
        }
        return name
    }

    /// Returns an object whose class has no `ArchivedForm` as a dictionary with the class name. Fields that are nil are
    /// omitted.
    private func general(_ fields: Fields, name: String) -> Node {
        var entries: [(key: String, node: Node)] = [(ArchiveKey.className, .asIs(.string(name)))]
        for field in fields where field.key != "$class" && !isNil(field.value) {
            entries.append((field.key, .archived(field.value)))
        }
        return .dictionary(entries)
    }
}

// MARK: Fields

extension ArchivedObjects {
    func isNil(_ value: PropertyList) -> Bool { hasNil && value == .uid(0) }

    /// The scalar that a field holds or refers to. Strings, numbers and data may be in objects of their own.
    func scalar(_ field: PropertyList?) -> PropertyList? {
        guard let field else { return nil }
        guard let fields = self.fields(field) else { return bare(field) }
        guard case .string(let name)? = classNameIfValid(of: fields), let form = ArchivedForm(className: name) else {
            return nil
        }
        return form.scalar(of: fields, in: self)
    }

    /// The scalar that a field holds or refers to directly.
    func bare(_ field: PropertyList?) -> PropertyList? {
        guard let value = field.flatMap(target), !value.isContainer, value.kind != .uid else { return nil }
        return value
    }

    /// The string that a field holds or refers to.
    func text(_ field: PropertyList?) -> String? {
        if case .string(let text)? = bare(field) { return text }
        guard case .text? = form(of: field), let fields = fields(field) else { return nil }
        return bare(fields["NS.string"])?.stringValue
    }

    func number(_ field: PropertyList?) -> Double? {
        switch scalar(field) {
        case .integer(let number): number.asDouble
        case .real(let number): number
        default: nil
        }
    }

    /// The cost of examining an object: the number of its fields, and of the bytes of text and data in them.
    func size(of index: Int) -> Int {
        guard case .dictionary(let fields) = objects[index] else { return 0 }
        return fields.reduce(0) { size, field in
            let size = size + 8 + 8 * (self.fields(field.value)?.count ?? 0)
            return switch scalar(field.value) {
            case .string(let text): size + text.utf8.count
            case .data(let data): size + data.count
            default: size
            }
        }
    }

    /// The object that a field refers to, if it has fields.
    func fields(_ field: PropertyList?) -> Fields? {
        guard let field, case .uid = field else { return nil }
        return target(of: field)?.dictionaryValue
    }

    /// The form of the object that a field refers to.
    func form(of field: PropertyList?) -> ArchivedForm? {
        guard let fields = fields(field), case .string(let name)? = classNameIfValid(of: fields) else { return nil }
        return ArchivedForm(className: name)
    }

    /// The value that a field holds or refers to, or nil if that is an archived nil or does not exist.
    private func target(of field: PropertyList) -> PropertyList? {
        guard case .uid(let number) = field else { return field }
        guard let position = position(of: number), !isNil(field) else { return nil }
        return objects[position]
    }

    private func classNameIfValid(of fields: Fields) -> PropertyList? {
        fields["$class"].flatMap { self.fields($0) }?["$classname"]
    }
}

extension ArchivedObjects {
    /// The elements of an array or set, from one field or from numbered fields, or nil if they are damaged.
    func elements(of fields: Fields, _ name: String = "NS.objects", numbered: String = "NS.object.") -> [PropertyList]?
    {
        if let all = fields[name] { return all.arrayValue }
        var elements: [PropertyList] = []
        while let element = fields[numbered + String(elements.count)] { elements.append(element) }
        return elements
    }
}

// MARK: Forms

/// The kind of value that an object of a known class represents.
enum ArchivedForm {
    case text, number, date, data, url, uuid, null, array, dictionary, attributedText, indexes, color, font, geometry

    /// The class names, without `Mutable`, the underscores of private classes and the names of Swift modules.
    private static let classes: [(names: [String], form: ArchivedForm)] = [
        (["NSString", "NSCFString", "NSCFConstantString", "NSTaggedPointerString", "NSContiguousString"], .text),
        (["NSNumber", "NSCFNumber", "NSCFBoolean"], .number),
        (["NSDate", "NSTaggedDate", "Date"], .date),
        (["NSData", "NSConcreteData", "NSInlineData", "NSSwiftData", "Data"], .data),
        (["NSURL", "NSSwiftURL", "URL"], .url),
        (["NSUUID", "NSConcreteUUID", "UUID"], .uuid),
        (["NSNull"], .null),
        (
            [
                "NSArray", "NSArrayI", "NSArrayM", "NSSet", "NSSetI", "NSSetM", "NSOrderedSet", "NSOrderedSetI",
                "NSOrderedSetM", "SwiftDeferredNSArray", "SwiftDeferredNSSet", "ContiguousArrayStorage",
            ], .array
        ),
        (["NSDictionary", "NSDictionaryI", "NSDictionaryM", "SwiftDeferredNSDictionary"], .dictionary),
        (["NSAttributedString", "NSConcreteAttributedString", "AttributedString"], .attributedText),
        (["NSIndexSet", "IndexSet"], .indexes),
        (["NSColor", "UIColor", "UIDeviceRGBColor", "UIDeviceWhiteColor", "UICachedDeviceRGBColor"], .color),
        (["NSFont", "UIFont", "UICTFont"], .font),
        (["NSValue", "NSConcreteValue", "NSSpecialValue"], .geometry),
    ]

    private static let forms = [String: ArchivedForm](
        classes.flatMap { entry in entry.names.map { ($0, entry.form) } }, uniquingKeysWith: { first, _ in first })

    /// The form of a class, or nil if it has none.
    init?(className: String) {
        guard className.utf8.count < 200 else { return nil }
        let name = className.prefix { $0 != "<" }.split(separator: ".").last ?? ""
        guard let form = Self.forms[String(name.drop { $0 == "_" }.replacing("Mutable", with: ""))] else { return nil }
        self = form
    }

    /// Returns the value that the fields of an object represent, or nil if they are unusual for its class.
    func node(
        of fields: ArchivedObjects.Fields, in objects: ArchivedObjects, name: String, object: Int
    ) throws(KeyedArchive.Failure) -> ArchiveReader.Node? {
        func damage() -> KeyedArchive.Failure {
            KeyedArchive.Failure(.invalidContents(className: name), object: object)
        }
        switch self {
        case .text, .number, .date, .data, .url, .uuid: return scalar(of: fields, in: objects).map { .asIs($0) }
        case .null: return .asIs(ArchiveKey.null)
        case .array:
            guard let elements = objects.elements(of: fields) else { throw damage() }
            return .array(elements.map { .archived($0) })
        case .dictionary:
            guard let keys = objects.elements(of: fields, "NS.keys", numbered: "NS.key."),
                let values = objects.elements(of: fields), keys.count == values.count
            else { throw damage() }
            return Self.dictionary(keys, values, in: objects, name: name)
        case .attributedText: return AttributedText(fields, in: objects)?.node
        case .indexes: return Self.indexes(fields, in: objects)
        case .color: return Self.color(fields, in: objects).map { .asIs($0) }
        case .font: return Self.font(fields, in: objects).map { .asIs($0) }
        case .geometry: return Self.geometry(fields, in: objects).map { .asIs($0) }
        }
    }

    /// Returns the scalar that an object represents, or nil.
    func scalar(of fields: ArchivedObjects.Fields, in objects: ArchivedObjects) -> PropertyList? {
        switch self {
        case .text:
            guard case .string(let text)? = objects.bare(fields["NS.string"]) else { return nil }
            return .string(text)
        case .number:
            return ["NS.intval", "NS.dblval", "NS.boolval"].lazy.compactMap { objects.bare(fields[$0]) }
                .first { [.integer, .real, .boolean].contains($0.kind) }
        case .date:
            switch objects.bare(fields["NS.time"]) {
            case .real(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds.asDouble))
            default: return nil
            }
        case .data:
            guard case .data(let data)? = objects.bare(fields["NS.data"]) else { return nil }
            return .data(data)
        case .url: return Self.url(fields, in: objects).map { .string($0) }
        case .uuid:
            guard case .data(let bytes)? = objects.bare(fields["NS.uuidbytes"]), bytes.count == 16 else { return nil }
            return .string(Self.uuid(Array(bytes)))
        default: return nil
        }
    }
}

extension ArchivedForm {
    private static func dictionary(
        _ keys: [PropertyList], _ values: [PropertyList], in objects: ArchivedObjects, name: String
    ) -> ArchiveReader.Node {
        let texts = keys.compactMap(objects.text)
        guard texts.count == keys.count else {
            return .dictionary([
                (ArchiveKey.className, .asIs(.string(name))), ("NS.keys", .array(keys.map { .archived($0) })),
                ("NS.objects", .array(values.map { .archived($0) })),
            ])
        }
        return .dictionary(zip(texts, values).map { (ArchiveKey.escaped($0), .archived($1)) })
    }

    /// The text of a URL. A relative URL is resolved against its base.
    private static func url(_ fields: ArchivedObjects.Fields, in objects: ArchivedObjects) -> String? {
        var relatives: [String] = []
        var next: ArchivedObjects.Fields? = fields
        while let fields = next {
            guard case .string(let relative)? = objects.bare(fields["NS.relative"]) else { return nil }
            relatives.append(relative)
            guard let base = fields["NS.base"], !objects.isNil(base) else { break }
            // These limits also end a cycle of bases.
            guard relatives.count < 4, relative.utf8.count < 2048 else { return nil }
            guard case .url? = objects.form(of: base) else { return nil }
            next = objects.fields(base)
        }
        guard relatives.count > 1, let last = relatives.last, last.utf8.count < 2048 else {
            return relatives.count == 1 ? relatives.first : nil
        }
        var url: URL?
        for relative in relatives.reversed() {
            guard let resolved = URL(string: relative, relativeTo: url) else { return nil }
            url = resolved.absoluteURL
        }
        return url?.absoluteString
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        let digits = Array(Hexadecimal.text(of: bytes).uppercased().utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }

    private static func indexes(_ fields: ArchivedObjects.Fields, in objects: ArchivedObjects) -> ArchiveReader.Node? {
        func range(_ location: PropertyList, _ length: PropertyList) -> ArchiveReader.Node {
            .asIs(["location": location, "length": length])
        }
        if case .data(let data)? = objects.scalar(fields["NSRangeData"]) {
            guard let pairs = [UInt64](variableLength: data), pairs.count.isMultiple(of: 2) else { return nil }
            return .array(
                stride(from: 0, to: pairs.count, by: 2).map {
                    range(.integer(.init(pairs[$0])), .integer(.init(pairs[$0 + 1])))
                })
        }
        if case .integer(let location)? = objects.scalar(fields["NSLocation"]),
            case .integer(let length)? = objects.scalar(fields["NSLength"])
        {
            return .array([range(.integer(location), .integer(length))])
        }
        return objects.number(fields["NSRangeCount"]) == 0 ? .array([]) : nil
    }

    private static func font(_ fields: ArchivedObjects.Fields, in objects: ArchivedObjects) -> PropertyList? {
        guard let name = objects.text(fields["NSName"] ?? fields["UIFontName"]),
            let size = objects.number(fields["NSSize"] ?? fields["UIFontPointSize"])
        else { return nil }
        return ["name": .string(name), "size": .real(size)]
    }

    private static func color(_ fields: ArchivedObjects.Fields, in objects: ArchivedObjects) -> PropertyList? {
        if let catalog = objects.text(fields["NSCatalogName"]), let name = objects.text(fields["NSColorName"]) {
            return ["catalog": .string(catalog), "name": .string(name)]
        }
        let rgb = ["red", "green", "blue"]
        for (names, keys) in [(rgb, ["UIRed", "UIGreen", "UIBlue"]), (["white"], ["UIWhite"])] {
            let numbers = keys.compactMap { objects.number(fields[$0]) }
            guard numbers.count == names.count else { continue }
            return components(names, numbers + [objects.number(fields["UIAlpha"]) ?? 1])
        }
        let spaces = [("NSRGB", rgb), ("NSWhite", ["white"]), ("NSCMYK", ["cyan", "magenta", "yellow", "black"])]
        for (key, names) in spaces {
            guard let text = numberText(objects.scalar(fields[key])) else { continue }
            let numbers = numbers(in: text)
            if numbers.count == names.count { return components(names, numbers + [1]) }
            if numbers.count == names.count + 1 { return components(names, numbers) }
        }
        return nil
    }

    private static func components(_ names: [String], _ numbers: [Double]) -> PropertyList {
        .dictionary(PropertyList.Dictionary(zip(names + ["alpha"], numbers.map { .real($0) })))
    }

    private static func geometry(_ fields: ArchivedObjects.Fields, in objects: ArchivedObjects) -> PropertyList? {
        for (key, names) in [
            ("NS.pointval", ["x", "y"]), ("NS.sizeval", ["width", "height"]),
            ("NS.rectval", ["x", "y", "width", "height"]),
        ] {
            guard let text = objects.text(fields[key]), text.utf8.count < 200 else { continue }
            let numbers = numbers(in: text)
            guard numbers.count == names.count else { return nil }
            return .dictionary(PropertyList.Dictionary(zip(names, numbers.map { .real($0) })))
        }
        guard case .integer(let location)? = objects.scalar(fields["NS.rangeval.location"]),
            case .integer(let length)? = objects.scalar(fields["NS.rangeval.length"])
        else { return nil }
        return ["location": .integer(location), "length": .integer(length)]
    }

    /// A short text with numbers: a string, or data that ends with a NUL.
    private static func numberText(_ value: PropertyList?) -> String? {
        switch value {
        case .string(let text)? where text.utf8.count < 200: text
        case .data(let data)? where data.count < 200: String(decoding: data.prefix { $0 != 0 }, as: UTF8.self)
        default: nil
        }
    }

    /// The numbers in a text such as `{{1, 2}, {3, 4}}` or `0.5 0.5 1`, or an empty array for any other text.
    private static func numbers(in text: String) -> [Double] {
        let words = text.split { " ,{}".contains($0) }
        let numbers = words.compactMap { Double($0) }
        return numbers.count == words.count ? numbers : []
    }
}

/// A text whose ranges have attributes.
private struct AttributedText {
    private let text: String
    private var runs: [(location: UInt64, length: UInt64, attributes: PropertyList)] = []

    /// Reads the text and the ranges. Returns nil if they are not in the usual fields.
    init?(_ fields: ArchivedObjects.Fields, in objects: ArchivedObjects) {
        guard let text = objects.text(fields["NSString"]) else { return nil }
        self.text = text
        guard let attributes = fields["NSAttributes"], !objects.isNil(attributes) else { return }
        guard fields["NSAttributeInfo"].map(objects.isNil) ?? true else {
            guard case .array? = objects.form(of: attributes), let list = objects.fields(attributes),
                let choices = objects.elements(of: list),
                case .data(let info)? = objects.scalar(fields["NSAttributeInfo"]),
                let pairs = [UInt64](variableLength: info), pairs.count.isMultiple(of: 2)
            else { return nil }
            var location: UInt64 = 0
            for pair in stride(from: 0, to: pairs.count, by: 2) {
                guard pairs[pair + 1] < UInt64(choices.count) else { return nil }
                add(location, pairs[pair], choices[Int(pairs[pair + 1])], in: objects)
                let (end, overflows) = location.addingReportingOverflow(pairs[pair])
                guard !overflows else { return nil }
                location = end
            }
            return
        }
        add(0, UInt64(text.utf16.count), attributes, in: objects)
    }

    private mutating func add(
        _ location: UInt64, _ length: UInt64, _ attributes: PropertyList, in objects: ArchivedObjects
    ) {
        if case .dictionary? = objects.form(of: attributes), let fields = objects.fields(attributes),
            fields["NS.objects"].map({ $0.arrayValue?.isEmpty == true }) ?? (fields["NS.object.0"] == nil)
        {
            return
        }
        runs.append((location, length, attributes))
    }

    var node: ArchiveReader.Node {
        guard !runs.isEmpty else { return .asIs(.string(text)) }
        let runs = runs.map { run in
            ArchiveReader.Node.dictionary([
                ("location", .asIs(.integer(.init(run.location)))), ("length", .asIs(.integer(.init(run.length)))),
                ("attributes", .archived(run.attributes)),
            ])
        }
        return .dictionary([("string", .asIs(.string(text))), ("attributes", .array(runs))])
    }
}

extension [UInt64] {
    /// Reads numbers in groups of seven bits, lowest first. Returns nil for an incomplete number or one that is too
    /// large.
    fileprivate init?(variableLength data: Data) {
        self = []
        var (number, shift): (UInt64, UInt64) = (0, 0)
        for byte in data {
            guard shift < 63 || (shift == 63 && byte <= 1) else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 {
                append(number)
                (number, shift) = (0, 0)
            }
        }
        guard shift == 0 else { return nil }
    }
}
