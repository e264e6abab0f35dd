internal import Platform
internal import PropertyLists

/// An input file named on the command line, or the standard input.
struct InputFile: Sendable {
    /// The file as named on the command line.
    let argument: String
    /// The name in messages.
    var name: String { Self.name(argument) }
    let bytes: [UInt8]
    private let format: FormatName?
    /// The file name, whose extension indicates the format; nil for the standard input.
    private let fileName: String?
    private var options: PropertyList.ReadingOptions
    /// The settings of another program; nil in other formats.
    let importedText: ImportedText?
    /// The contents as a property list; nil for text in other formats.
    private let contents: Result<(value: PropertyList, format: PropertyList.Format), InvalidInput>?

    /// Reads the input.
    ///
    /// - Parameters:
    ///   - unwrapsJSON: Whether the values are those of a domain. Its JSON may be wrapped, as on the standard input; a
    ///     file by its path is plain JSON.
    ///   - refusesDuplicateKeys: Whether a duplicate key in a dictionary is an error.
    ///   - inexactIntegers: How integers beyond 64 bits in JSON are read.
    ///   - json: The syntax of JSON that is accepted, unless the name of the file or `--from` state another one.
    init(
        _ argument: String, _ invocation: Invocation, _ context: CommandContext, unwrapsJSON: Bool = false,
        refusesDuplicateKeys: Bool = false,
        inexactIntegers: PropertyList.ReadingOptions.InexactIntegers = .refused,
        json: PropertyList.JSONSyntax = .withComments
    ) throws {
        self.argument = argument
        if argument != "-", try !context.isStream(argument) {
            try StoreAccess.checkMember(argument, invocation, context)
        }
        bytes = try context.contents(argument, limit: PropertyList.Limits.default.inputBytes)
        format = invocation[.from].flatMap { FormatName(word: $0) }
        fileName = argument == "-" ? nil : argument
        options = PropertyList.ReadingOptions(
            unwrapsJSON: unwrapsJSON || invocation.has(.losslessJSON), refusesDuplicateKeys: refusesDuplicateKeys,
            readsScalarsAsJSON: !context.isRunAsAppleTool)
        options.detectsTOML = !context.isRunAsAppleTool
        options.json = format == .json5 ? .json5 : json
        options.inexactIntegers = inexactIntegers
        do throws(ImportedText.Failure) {
            importedText = try ImportedText(bytes, as: format)
        } catch {
            throw InvalidInput(name: Self.name(argument), bytes: bytes, failure: error)
        }
        let isPropertyList = importedText == nil && format != .typed
        contents = isPropertyList ? Self.contents(bytes, format, fileName, options, name: argument) : nil
    }

    private static func contents(
        _ bytes: [UInt8], _ format: FormatName?, _ fileName: String?, _ options: PropertyList.ReadingOptions,
        name: String
    ) -> Result<(value: PropertyList, format: PropertyList.Format), InvalidInput> {
        do throws(DecodingFailure) {
            if let format = format?.ofPropertyList {
                return .success((try PropertyList(parsing: bytes, as: format, options: options), format))
            }
            return .success(try PropertyList.sniffed(bytes, named: fileName, options: options))
        } catch {
            return .failure(InvalidInput(name: Self.name(name), bytes: bytes, failure: error))
        }
    }

    /// Returns the name of an input in messages.
    static func name(_ argument: String) -> String { argument == "-" ? "standard input" : argument.onOneLine }

    /// Returns the value and its format.
    func value() throws(InvalidInput) -> (value: PropertyList, format: PropertyList.Format) {
        try (contents ?? Self.contents(bytes, format, fileName, options, name: argument)).get()
    }

    /// Returns notes on contents that other readers may reject or read differently.
    func notes() throws(InvalidInput) -> [PortabilityNote] {
        PropertyList.portabilityNotes(on: bytes, try value().format)
    }

    /// Returns whether reals in JSON have more digits than a double can hold.
    func roundsReals() throws(InvalidInput) -> Bool {
        guard format != .typed, importedText == nil, try value().format == .json else { return false }
        return PropertyList.hasInexactReals(inJSON: bytes, numberOptions)
    }

    /// Returns JSON with numbers replaced by their original text where a double would lose digits.
    func keepingNumbers(in written: [UInt8]) throws -> [UInt8] {
        let (value, format) = try value()
        guard format == .json else { return written }
        return try value.keepingNumbers(in: written, of: (bytes, value), numberOptions)
    }

    private var numberOptions: PropertyList.ReadingOptions { PropertyList.ReadingOptions(allowsJSON5: true) }

    /// Returns whether the input is in a format without types other than strings, or with fewer types than a schema.
    func isUntyped() throws(InvalidInput) -> Bool {
        if format == .typed { return false }
        if importedText != nil { return true }
        return try !value().format.hasTypes
    }

    /// Returns the value of an input that must be a dictionary.
    func dictionary() throws -> PropertyList.Dictionary {
        if format == .typed { return try linesRead() }
        if let importedText { return importedText.values }
        let value = try value().value
        guard case .dictionary(let entries) = value else {
            // A list in YAML may look like a property list.
            let text =
                InvalidInput.lineOfUnsupportedLanguage(name)
                ?? "\(name): expected a dictionary of settings, not a value of type \(value.kind.rawValue)"
            throw CommandFailure(.damaged, text)
        }
        return entries
    }

    /// Throws if a value is the text that is printed in place of a secret. Where the input was printed, a schema may
    /// have declared it that is not known here.
    func checkNotMasked(_ values: PropertyList.Dictionary) throws(CommandFailure) {
        guard let path = PropertyList.dictionary(values).paths(to: .string(Masking.dots)).first else { return }
        let text = "\(name): \(path): \(Masking.dots) is what is printed in place of a secret"
        throw CommandFailure(
            .invalidValue, text.onOneLine + "; prefs export writes secrets to a file, and --force stores this text")
    }

    private func linesRead() throws(CommandFailure) -> PropertyList.Dictionary {
        do throws(TypedFailure) {
            return try TypedText.domain(from: bytes)
        } catch {
            throw CommandFailure(.damaged, "\(name):\(error.line): \(error.problem)")
        }
    }
}
