internal import Platform
internal import Preferences
internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The command `plutil` of macOS.
struct Plutil: Sendable {
    static let name = "plutil"
    private let context: CommandContext

    /// Runs the command with the context's arguments.
    static func run(in context: CommandContext) throws -> ExitStatus {
        let plutil = Plutil(context: context)
        let words = Array(context.environment.arguments.dropFirst())
        if words.first == Verb.complete.name { return try plutil.complete(words.dropFirst()) }
        do {
            let request = try Request(words)
            let files = request.options.files + [request.options.output].compactMap(\.self)
            // Only the path of a file can have other bytes.
            if let word = words.first(where: { ByteText.holdsRaw($0) && !files.contains($0) }) {
                throw AppleFailure("\(word.shown) is not UTF-8.")
            }
            return try plutil.perform(request)
        } catch let failure as AppleFailure {
            plutil.complain(failure.message)
            return .appleFailure
        }
    }

    private func complete(_ words: ArraySlice<String>) throws -> ExitStatus {
        try context.terminal.write(Completion.Answer(to: words, Self.options).text, to: .output)
        return .done
    }

    private func perform(_ request: Request) throws -> ExitStatus {
        if request.operation == .help {
            try context.terminal.write(Self.help, to: .output)
            return .done
        }
        if request.operation == .show, request.options.isSilent {
            complain("-s doesn't make a lot of sense with -p.")
        }
        var status = ExitStatus.done
        for name in request.options.files {
            do {
                try perform(request, on: name)
            } catch  where (error as? SystemFailure)?.isBrokenPipe != true {
                let shown = name == "-" ? "<stdin>" : name
                complain("\(shown): ".shown + message(of: error, name))
                status = .appleFailure
            }
        }
        return status
    }

    /// Returns the text of a failure. Failures of the system and of a parser are in parentheses.
    private func message(of error: any Error, _ name: String) -> String {
        switch error {
        case let failure as AppleFailure: return failure.message.shown
        case let damage as AppleFile.Damage: return damage.messageOfBothParsers.shown
        case let failure as SystemFailure where failure.code == .noSuchFile && failure.operation == .open:
            let file = name.split(separator: "/").last.map(String.init) ?? name
            return "(The file “\(file)” couldn’t be opened because there is no such file.)".shown
        default:
            let (_, lines) = Prefs.explanation(of: error)
            return "(\(lines.joined(separator: " ")))".shown
        }
    }

    // MARK: One file

    private func perform(_ request: Request, on name: String) throws {
        guard !name.isEmpty else { throw AppleFailure("Empty path specified") }
        let file = try AppleFile(name, context)
        switch request.operation {
        case .help: break
        case .lint: try lint(file, request.options)
        case .show: try write(read(file).value.description(indent: 0) + "\n")
        case .convert(let format, let hasHeader):
            let contents = try read(file)
            try emit(
                contents.value, as: format, file, request.options, hasHeader: hasHeader, former: contents.bytes)
        case .create(let format): try create(file, format, request.options)
        case .extract(let path, let format, let type):
            let contents = try read(file)
            let keys = KeyPath(path).components
            guard !keys.contains(""), let value = contents.value.entry(keys) else {
                throw AppleFailure(
                    "Could not extract value, error: No value at that key path or invalid key path: \(path)")
            }
            let actual = value.plutilType
            if let type, type != actual {
                throw AppleFailure("Value at [\(path)] expected to be \(type) but is \(actual)")
            }
            try emit(value, as: format, file, request.options)
        case .insert(let path, let value, let mode):
            try edit(file, request.options) { root in try root.insert(value, at: KeyPath(path), mode) }
        case .remove(let path):
            try edit(file, request.options) { root in try root.remove(KeyPath(path)) }
        }
    }

    private func read(_ file: AppleFile) throws -> AppleFile.Contents {
        guard let contents = try file.contents() else { throw noSuchFile(file) }
        return contents
    }

    private func noSuchFile(_ file: AppleFile) -> any Error {
        SystemFailure(.noSuchFile, .open, try? context.path(file.name))
    }

    private func write(_ text: String) throws { try context.terminal.write(text, to: .output) }

    /// Prints a message. If standard error cannot be written, the other files are still processed.
    private func complain(_ message: String) { try? context.terminal.write(message + "\n", to: .errors) }

    /// JSON is not a property list to `-lint`, even though the other operations read it.
    private func lint(_ file: AppleFile, _ options: Request.Options) throws {
        let contents: AppleFile.Contents
        do {
            contents = try read(file)
        } catch let damage as AppleFile.Damage {
            throw AppleFailure("(\(damage.reason))")
        }
        // Text is refused only if it is valid as JSON and not as OpenStep. `{}` is both.
        if contents.format == .json, let bytes = contents.bytes {
            do throws(DecodingFailure) {
                _ = try PropertyList(parsing: bytes, as: .openstep)
            } catch {
                let first = bytes.first { !($0 == 0x20 || (0x09...0x0D).contains($0)) } ?? 0x7B
                throw AppleFailure("(Unexpected character \(Character(UnicodeScalar(first))) at line 1)")
            }
        }
        if !options.isSilent { try write("\(file.name == "-" ? "<stdin>" : file.name): ".shown + "OK\n") }
    }

    private func create(_ file: AppleFile, _ format: Format, _ options: Request.Options) throws {
        switch format {
        case .propertyList(.openstep): throw AppleFailure("Cannot create open step property lists")
        case .propertyList(let format):
            try file.replace(AppleFile.Contents(value: .dictionary([:]), format: format))
        case .swift: try file.replace(Array("/// Generated from -\nlet - = [\n    ]".utf8))
        case .objectiveC:
            let text = "/// Generated from -\n__attribute__((visibility(\"hidden\")))\nNSDictionary * const _ = @{\n};"
            try file.replace(Array(text.utf8))
        case .raw, .type:
            let text = format == .raw ? "\n" : "dictionary"
            try file.replace(Array((text + (file.name == "-" && options.endsLine ? "\n" : "")).utf8))
        }
    }

    /// Changes a file in its own format, or writes the changed property list to another file.
    private func edit(
        _ file: AppleFile, _ options: Request.Options,
        _ change: @escaping @Sendable (inout PropertyList) throws -> EntryStep?
    ) throws {
        let destination = options.destination(of: file.name, .propertyList(.xml))
        let target = try destination == file.name ? nil : AppleFile(destination, context, from: file)
        try file.edit(into: target) { contents in
            var value = contents.value
            let step = try change(&value)
            try value.check(for: contents.format)
            return [AppleFile.Revision(value: value, step: step)]
        }
    }

    // MARK: Output

    private func emit(
        _ value: PropertyList, as format: Format, _ file: AppleFile, _ options: Request.Options,
        hasHeader: Bool = false, former: [UInt8]? = nil
    ) throws {
        let destination = options.destination(of: file.name, format)
        switch format {
        case .propertyList(let format):
            try value.check(for: format)
            if format == .json {
                // A domain is JSON with all of its types, a plain file only what JSON has.
                let bytes = try value.appleJSON(of: former, isPretty: options.isReadable)
                let target = try AppleFile(destination, context, from: file)
                if target.isDomain { return try target.replace(AppleFile.Contents(value: value, format: .json)) }
                return try target.replace(bytes)
            }
            try AppleFile(destination, context, from: file).replace(AppleFile.Contents(value: value, format: format))
        case .raw, .type:
            let text = format == .raw ? try value.rawText() : value.plutilType
            if options.output == nil || options.output == "-" {
                return try write(text + (options.endsLine ? "\n" : ""))
            }
            try AppleFile(destination, context, from: file).replace(Array(text.utf8))
        case .swift:
            let text = SourceLiteral(.swift, file.name).text(of: value) + "\n"
            try AppleFile(destination, context, from: file).replace(Array(text.utf8))
        case .objectiveC:
            let literal = SourceLiteral(.objectiveC, file.name)
            guard let kind = value.literalClass, value.isForObjectiveC else {
                throw AppleFailure("Input contains an object that cannot be represented in Obj-C literal syntax")
            }
            let text = literal.implementation(of: value, kind, in: destination)
            try AppleFile(destination, context, from: file).replace(Array(text.utf8))
            guard hasHeader, CommandContext.outputStream(destination) == nil else { return }
            let header = Request.Options.replacingExtension(of: destination, by: "h")
            try AppleFile(header, context, from: file).replace(Array(literal.header(kind).utf8))
        }
    }
}

extension AppleFile.Damage {
    /// The reason in Apple's words where it has some.
    fileprivate var reason: String {
        let line = failure.location(in: bytes)?.line
        let place = line.map { " at line \($0)" } ?? ""
        switch failure.problem {
        case .emptyInput where name == "-" && bytes.isEmpty: return "Unable to read file from standard input"
        case .emptyInput: return "Cannot parse a NULL or zero-length data"
        case .unknownElement(let name): return "Encountered unknown tag \(name)" + (line.map { " on line \($0)" } ?? "")
        case .unexpectedEnd where failure.format == .xml: return "Encountered unexpected EOF"
        case .keyWithoutValue where failure.format == .xml: return "Value missing for key inside <dict>\(place)"
        case .valueWithoutKey where failure.format == .xml: return "Found non-key inside <dict>\(place)"
        default: return "\(failure.problem)\(place)"
        }
    }

    /// The message of the operations that read both property lists and JSON.
    fileprivate var messageOfBothParsers: String {
        failure.format == .json ? "JSON error: \(reason)" : "Property List error: \(reason) / JSON error: not JSON"
    }
}

// MARK: Arguments

extension Plutil {
    /// The form in which a value is written.
    enum Format: Hashable, Sendable {
        case propertyList(PropertyList.Format)
        case swift, objectiveC
        /// The value alone, and its type.
        case raw, type

        init(word: String) throws(AppleFailure) {
            switch word {
            case "xml1": self = .propertyList(.xml)
            case "binary1": self = .propertyList(.binary)
            case "json": self = .propertyList(.json)
            case "openStep": self = .propertyList(.openstep)
            case "swift": self = .swift
            case "objc": self = .objectiveC
            case "raw": self = .raw
            case "type": self = .type
            default: throw AppleFailure("Unknown format specifier: \(word)")
            }
        }
    }

    enum InsertMode: Hashable, Sendable { case adding, appending, replacing }

    enum Operation: Hashable, Sendable {
        case help, lint, show
        case convert(Format, hasHeader: Bool)
        case create(Format)
        case extract(path: String, Format, type: String?)
        case insert(path: String, PropertyList, InsertMode)
        case remove(path: String)
    }

    /// The parsed arguments: an operation, which is the first word, and the options and files that follow it.
    struct Request: Sendable {
        var operation: Operation
        var options: Options

        init(_ words: [String]) throws(AppleFailure) {
            var words = words[...]
            guard let word = words.popFirst() else { throw AppleFailure("No files specified.") }
            switch word {
            case "-help":
                (operation, options) = (.help, Options())
                return
            case "-lint": operation = .lint
            case "-p": operation = .show
            case "-convert":
                let format = try Self.format(&words, "Missing format specifier for command.")
                let hasHeader = words.first == "-header"
                if hasHeader { words.removeFirst() }
                guard !hasHeader || format == .objectiveC else {
                    throw AppleFailure("-header is only valid for objc literal conversions.")
                }
                operation = .convert(format, hasHeader: hasHeader)
            case "-create": operation = .create(try Self.format(&words, "'Create' requires a plist format."))
            case "-insert", "-replace": operation = try Self.insertion(&words, isReplacing: word == "-replace")
            case "-remove":
                guard let path = words.popFirst() else { throw AppleFailure("'Remove' requires a key path.") }
                operation = .remove(path: path)
            case "-extract", "-type":
                let missing = "'Extract' requires a key path and a plist format."
                guard let path = words.popFirst() else { throw AppleFailure(missing) }
                let format = word == "-type" ? .type : try Self.format(&words, missing)
                operation = .extract(path: path, format, type: try Self.expectedType(&words))
            default:
                operation = .lint
                words = [word] + words
            }
            options = try Options(words)
            guard operation == .lint || operation == .show else { return }
            let name = operation == .lint ? "-lint" : "-p"
            if options.output != nil { throw AppleFailure("-o is not used with \(name).") }
            if options.newExtension != nil { throw AppleFailure("-e is not used with \(name).") }
        }

        private static func format(
            _ words: inout ArraySlice<String>, _ missing: String
        ) throws(AppleFailure) -> Format {
            guard let word = words.popFirst() else { throw AppleFailure(missing) }
            return try Format(word: word)
        }

        private static func expectedType(_ words: inout ArraySlice<String>) throws(AppleFailure) -> String? {
            guard words.first == "-expect" else { return nil }
            words.removeFirst()
            guard let type = words.popFirst() else { throw AppleFailure("-expect requires a type argument.") }
            guard Plutil.types.contains(type) else { throw AppleFailure("-expect type [\(type)] not valid.") }
            return type
        }

        private static func insertion(
            _ words: inout ArraySlice<String>, isReplacing: Bool
        ) throws(AppleFailure) -> Operation {
            guard let path = words.popFirst(), let type = words.popFirst() else {
                throw AppleFailure("'Insert' and 'Replace' require a key path, a type, and a value.")
            }
            let value: PropertyList
            switch type {
            case "-dictionary": value = .dictionary([:])
            case "-array": value = .array([])
            case _ where valueTypes.contains(type):
                guard let word = words.popFirst() else {
                    // Apple's words, with their typing error.
                    throw AppleFailure("'Insert' and 'Replace' require a key path, a type, and a value2.")
                }
                value = try PropertyList(plutilWord: word, type: type)
            default: throw AppleFailure("Unknown insert or replace type \(type)")
            }
            var mode = isReplacing ? InsertMode.replacing : .adding
            if words.first == "-append" {
                words.removeFirst()
                if !isReplacing { mode = .appending }
            }
            return .insert(path: path, value, mode)
        }

        private static let valueTypes: Set = [
            "-bool", "-integer", "-float", "-string", "-date", "-data", "-xml", "-json",
        ]
    }
}

extension Plutil.Request {
    /// The options that may follow any operation, and the files.
    struct Options: Sendable {
        var files: [String] = []
        var output: String?
        var newExtension: String?
        var isReadable = false
        var isSilent = false
        /// Whether a line break follows a raw value.
        var endsLine = true

        init() {}

        init(_ words: ArraySlice<String>) throws(AppleFailure) {
            var words = words
            while let word = words.popFirst() {
                switch word {
                case "--":
                    files += words
                    words = []
                case "-n": endsLine = false
                case "-s": isSilent = true
                case "-r": isReadable = true
                case "-o":
                    guard let path = words.popFirst() else { throw AppleFailure("Missing argument for -o.") }
                    output = path
                case "-e":
                    guard let name = words.popFirst() else { throw AppleFailure("Missing argument for -e.") }
                    newExtension = name
                default:
                    guard !word.hasPrefix("-") || word == "-" else {
                        throw AppleFailure("unrecognized option: \(word)")
                    }
                    files.append(word)
                }
            }
            guard !files.isEmpty else { throw AppleFailure("No files specified.") }
        }

        /// Returns the file to which the result for an input is written. Source text never replaces its input.
        func destination(of name: String, _ format: Plutil.Format) -> String {
            if let output { return output }
            if name == "-" { return name }
            let changed = newExtension.map { Self.replacingExtension(of: name, by: $0) } ?? name
            switch format {
            case .swift: return Self.replacingExtension(of: changed, by: "swift")
            case .objectiveC: return Self.replacingExtension(of: changed, by: "m")
            default: return changed
            }
        }

        static func replacingExtension(of name: String, by newExtension: String) -> String {
            let start = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
            let file = name[start...]
            guard let dot = file.lastIndex(of: "."), dot != start else { return "\(name).\(newExtension)" }
            return "\(name[..<dot]).\(newExtension)"
        }
    }
}

extension Plutil {
    /// The types that `-type` prints and `-expect` takes.
    static let types: Set = [
        "(any)", "bool", "integer", "float", "string", "array", "dictionary", "date", "data",
    ]

    /// The options for completion, with their descriptions.
    static let options: [(word: String, summary: String)] = [
        ("-lint", "check the syntax of property lists"), ("-p", "print for people"),
        ("-convert", "rewrite in another format"), ("-insert", "insert a value"), ("-replace", "set a value"),
        ("-remove", "remove a value"), ("-extract", "write one value"), ("-type", "print the type of a value"),
        ("-create", "create an empty property list"), ("-help", "print help"), ("-o", "the file to write"),
        ("-e", "the extension of written files"), ("-r", "write JSON over several lines"),
        ("-s", "print nothing on success"), ("-n", "no line break after a raw value"),
        ("-expect", "require a type"), ("-append", "append to an array"), ("-header", "also write a header for objc"),
        ("--", "only files follow"),
    ]

    private static let help = """
        Usage: plutil [operation] [options] file...

        Operations; -lint is the default. The file - is the standard input or output.
          -lint                          check that files are property lists
          -p                             print for people, in no stable format
          -convert FORMAT [-header]      rewrite as xml1, binary1, json, swift or objc;
                                         -header also writes a header for objc
          -insert KEYPATH -TYPE [VALUE] [-append]
                                         insert a value, or append it to an array
          -replace KEYPATH -TYPE [VALUE] set a value, whether or not it exists
          -remove KEYPATH                remove a value
          -extract KEYPATH FORMAT [-expect TYPE]
                                         write one value as xml1, binary1, json or raw
          -type KEYPATH [-expect TYPE]   print the type of a value
          -create FORMAT                 create an empty property list
          -help                          print this text

        Types of new values:
          -bool       true if VALUE is YES or true in any case, otherwise false
          -integer, -float, -string
          -date       RFC 3339, as in XML property lists
          -data       Base64
          -xml, -json a property list or a JSON value
          -dictionary, -array    an empty one; without VALUE

        Options:
          -o PATH     write to PATH instead of the input; - is the standard output
          -e EXT      give written files this extension
          -r          write JSON over several lines, with sorted keys
          -s          print nothing on success
          -n          no line break after a raw value
          --          only files follow

        A key path is keys and array indexes with dots between them; \\. is a dot in a
        key. Without -o, all operations but -lint, -p, -type and -extract KEYPATH raw
        replace the file. See plutil(1).

        """
}

// MARK: Key paths

extension Plutil {
    /// Keys and indexes with dots between them. `\.` is a dot in a key.
    struct KeyPath: Sendable {
        let text: String
        let components: [String]

        init(_ text: String) {
            self.text = text
            var (components, current, isEscaped) = ([String](), "", false)
            for scalar in text.unicodeScalars {
                if isEscaped, scalar != "." { current.unicodeScalars.append("\\") }
                if scalar == "\\" {
                    isEscaped = true
                    continue
                }
                if scalar == ".", !isEscaped {
                    components.append(current)
                    current = ""
                } else {
                    current.unicodeScalars.append(scalar)
                }
                isEscaped = false
            }
            if isEscaped { current += "\\" }
            self.components = components + [current]
        }
    }
}

extension PropertyList {
    /// Inserts a value, and returns what this does to an entry unless the values show it.
    fileprivate mutating func insert(
        _ value: PropertyList, at path: Plutil.KeyPath, _ mode: Plutil.InsertMode
    ) throws -> EntryStep? {
        var step: EntryStep?
        let (outer, last) = (path.components.dropLast(), path.components[path.components.count - 1])
        guard var container = entry(outer) else { throw noContainer(for: path) }
        switch container {
        case .dictionary(var entries):
            switch (entries[last], mode) {
            case (.array(let elements)?, .appending): entries.updateValue(.array(elements + [value]), forKey: last)
            case (_?, .appending): throw AppleFailure("Appending to a non-array at key path \(path.text)")
            case (_?, .adding): throw AppleFailure("Value already exists at key path \(path.text)")
            default: entries.updateValue(value, forKey: last)
            }
            container = .dictionary(entries)
        case .array(var elements):
            guard let index = Int(last) else {
                throw AppleFailure("Unable to index into array with key path \(path.text)")
            }
            guard elements.indices.contains(index) || index == elements.count && mode != .appending else {
                throw AppleFailure("Index \(index) out of bounds in array at key path \(path.text)")
            }
            switch mode {
            case .appending:
                guard case .array(let inner) = elements[index] else {
                    throw AppleFailure("Attempt to append value to non-array at key path \(path.text)")
                }
                elements[index] = .array(inner + [value])
            case .replacing where index < elements.count: elements[index] = value
            default:
                elements.insert(value, at: index)
                step = .insertion(EntryPath(place(of: outer).components + [EntryPath.Component(index)]))
            }
            container = .array(elements)
        default: throw AppleFailure("Unable to insert value at key path \(path.text)")
        }
        try replaceEntry(outer, by: container)
        return step
    }

    /// The failure for a path of which the last component has nothing to be in.
    private func noContainer(for path: Plutil.KeyPath) -> AppleFailure {
        var value = self
        for component in path.components {
            switch value {
            case .array(let elements):
                guard let index = Int(component) else {
                    return AppleFailure("Unable to index into array with key path \(path.text)")
                }
                guard elements.indices.contains(index) else {
                    return AppleFailure("Index \(index) out of bounds in array at key path \(path.text)")
                }
                value = elements[index]
            case .dictionary(let entries):
                guard let next = entries[component] else { return AppleFailure("Key path not found \(path.text)") }
                value = next
            default: return AppleFailure("Unable to insert value at key path \(path.text)")
            }
        }
        return AppleFailure("Key path not found \(path.text)")
    }

    fileprivate mutating func remove(_ path: Plutil.KeyPath) throws -> EntryStep? {
        let (outer, last) = (path.components.dropLast(), path.components[path.components.count - 1])
        guard !last.isEmpty, var container = entry(outer), container.entry([last]) != nil else {
            throw AppleFailure("No value to remove at key path \(path.text)")
        }
        let step = EntryStep.removal(place(of: path.components))
        switch container {
        case .dictionary(var entries):
            entries.removeValue(forKey: last)
            container = .dictionary(entries)
        case .array(var elements):
            if let index = Int(last) { elements.remove(at: index) }
            container = .array(elements)
        default: return nil
        }
        try replaceEntry(outer, by: container)
        return step
    }
}

// MARK: Values of arguments

extension PropertyList {
    /// Parses the value of `-insert` or `-replace`.
    fileprivate init(plutilWord word: String, type: String) throws(AppleFailure) {
        switch type {
        case "-bool": self = .boolean(["true", "yes"].contains(word.lowercased()))
        case "-integer": self = .integer(Integer(leadingDigits: word))
        case "-float": self = .real(Double(leadingNumber: word))
        case "-date":
            guard let date = Date(rfc3339: word) else { throw AppleFailure("Invalid date in argument: \(word)") }
            self = .date(date)
        case "-data":
            let digits = word.unicodeScalars.filter(\.isBase64)
            guard digits.isEmpty == word.isEmpty,
                let data = Data(base64Encoded: String(String.UnicodeScalarView(digits)))
            else {
                throw AppleFailure("Invalid base64 data in argument")
            }
            self = .data(data)
        case "-xml", "-json":
            let name = type == "-xml" ? "xml property list" : "JSON"
            do throws(DecodingFailure) {
                self = try PropertyList(parsing: word, as: type == "-xml" ? nil : .json)
            } catch {
                throw AppleFailure("Unable to parse \(name): \(error.problem)")
            }
        default: self = .string(word)
        }
    }

    /// Throws if a file in the format cannot hold the value.
    fileprivate func check(for format: Format) throws(AppleFailure) {
        switch format {
        case .json where !(isContainer && isForJSON):
            throw AppleFailure("Invalid object in plist for JSON format")
        case .openstep where !isForOpenStep:
            throw AppleFailure("Conversion to OpenStep format is not supported")
        default: return
        }
    }

    private var isForJSON: Bool {
        switch self {
        case .array(let elements): elements.allSatisfy(\.isForJSON)
        case .dictionary(let entries): entries.values.allSatisfy(\.isForJSON)
        case .real(let number): number.isFinite
        case .string, .integer, .boolean: true
        default: false
        }
    }

    private var isForOpenStep: Bool {
        switch self {
        case .array(let elements): elements.allSatisfy(\.isForOpenStep)
        case .dictionary(let entries): entries.values.allSatisfy(\.isForOpenStep)
        case .string, .data: true
        default: false
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isBase64: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
            || "+/=".unicodeScalars.contains(self)
    }
}

extension PropertyList.Integer {
    /// The number with which a text begins, as `strtoll` reads it; 0 if there is none.
    init(leadingDigits text: String) {
        var digits = text.unicodeScalars.drop { $0.properties.isWhitespace }
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits.removeFirst() }
        let number = String(String.UnicodeScalarView(digits.prefix { ("0"..."9").contains($0) }))
        if number.isEmpty {
            self.init(0)
        } else if isNegative {
            self.init(Int64("-" + number) ?? .min)
        } else {
            self.init(Int64(number) ?? .max)
        }
    }
}

extension Double {
    /// The number with which a text begins, as `strtod` reads it; 0 if there is none.
    init(leadingNumber text: String) {
        let scalars = Array(text.unicodeScalars.drop { $0.properties.isWhitespace }.prefix(400))
        for count in stride(from: scalars.count, to: 0, by: -1) {
            let text = String(String.UnicodeScalarView(scalars[..<count]))
            if let number = Double(text) {
                self = number
                return
            }
        }
        self = 0
    }
}
