internal import Platform
internal import Preferences
internal import PropertyLists

/// The text of a domain in a file for an editor, in a folder that only its owner can access.
struct EditedText {
    let file: FilePath
    let format: PropertyList.Format
    let original: [UInt8]
    private let folder: FilePath
    /// Whether values without a JSON type are wrapped.
    private let isWrapped: Bool
    /// The file whose own text this is; nil for a text made from the values of a domain.
    private let source: DomainFile?
    private let context: CommandContext

    init(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format, isWrapped: Bool, named name: String,
        _ context: CommandContext
    ) throws {
        let name = FilePath(name + (format == .json ? ".json" : ".plist")) ?? "settings"
        let bytes = try Self.text(of: values, as: format, isWrapped)
        try self.init(bytes, named: name, as: format, isWrapped: isWrapped, of: nil, context)
    }

    /// Creates a copy of a text file.
    init(
        copying bytes: [UInt8], of source: DomainFile, as format: PropertyList.Format, _ context: CommandContext
    ) throws {
        let name = source.path.lastComponent.flatMap { FilePath($0.bytes) } ?? "settings"
        try self.init(bytes, named: name, as: format, isWrapped: false, of: source, context)
    }

    private init(
        _ bytes: [UInt8], named name: FilePath, as format: PropertyList.Format, isWrapped: Bool,
        of source: DomainFile?, _ context: CommandContext
    ) throws {
        self.context = context
        self.format = format
        self.isWrapped = isWrapped
        self.source = source
        original = bytes
        folder = try Self.makeFolder(context)
        file = folder.resolving(name)
        do throws(SystemFailure) {
            let opened = try context.fileSystem.open(file, .creatingAnew(.privateFile))
            try opened?.write(original, at: 0)
        } catch {
            remove()
            throw error
        }
    }

    private static func text(
        of values: PropertyList.Dictionary, as format: PropertyList.Format, _ isWrapped: Bool
    ) throws -> [UInt8] {
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        options.wrapsInJSON = isWrapped
        let bytes = Array(try PropertyList.dictionary(values).serialized(as: format, options: options))
        return bytes.last == UInt8(ascii: "\n") ? bytes : bytes + [UInt8(ascii: "\n")]
    }

    private static func makeFolder(_ context: CommandContext) throws -> FilePath {
        let named = context.environment.variables[Variable.temporaryFolder.rawValue].flatMap { FilePath($0) }
        let place = named.flatMap { $0.isAbsolute ? $0 : nil } ?? "/tmp"
        for _ in 0..<16 {
            guard let name = FileName(context.fileSystem.unpredictableName().bytes.dropFirst()) else { break }
            let folder = place.appending(name)
            if try context.fileSystem.makeFolder(folder, .privateFolder) { return folder }
        }
        throw SystemFailure(.exists, .makeFolder, place)
    }

    // MARK: Result

    /// Whether the text is that of the file that is edited, and not one made from its values.
    var isOwnText: Bool { source != nil }

    /// Returns the current text.
    func bytes() throws -> [UInt8] {
        guard
            let bytes = try context.fileSystem.contents(
                of: file, limit: PropertyList.Limits.default.inputBytes)
        else {
            throw CommandFailure(.notFound, "\(file): the editor has removed the file; nothing was changed")
        }
        return bytes
    }

    /// Parses the text of the file.
    func values(_ bytes: [UInt8]) throws -> PropertyList.Dictionary {
        if let source { return try source.parse(bytes).0 }
        let value: PropertyList
        do throws(DecodingFailure) {
            var options = PropertyList.ReadingOptions(unwrapsJSON: isWrapped)
            options.inexactIntegers = .refused
            value = try PropertyList(parsing: bytes, as: format, options: options)
        } catch {
            throw InvalidInput(name: file.description, bytes: bytes, failure: error)
        }
        guard let values = value.dictionaryValue else {
            throw CommandFailure(
                .damaged, "\(file):1:1: expected a dictionary of settings, not a value of type \(value.kind.rawValue)")
        }
        return values
    }

    /// Removes the file and anything the editor has left next to it.
    func remove() {
        let files = context.fileSystem
        for name in (try? files.names(in: folder)) ?? nil ?? [] { _ = try? files.remove(folder.appending(name)) }
        _ = try? files.remove(folder)
    }
}
