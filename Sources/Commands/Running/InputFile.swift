internal import Platform
internal import PropertyLists

/// A file that a command was given to read, or the standard input.
struct InputFile: Sendable {
    /// What it is called in messages.
    let name: String
    let bytes: [UInt8]
    private let format: FormatName?
    /// The name with the extension; nil for a stream.
    private let fileName: String?
    private var options: PropertyList.ReadingOptions

    /// - Parameters:
    ///   - refusesDuplicateKeys: Whether a duplicate key in a dictionary is an error.
    ///   - inexactIntegers: What an integer beyond 64 bits in JSON is read as.
    init(
        _ argument: String, _ invocation: Invocation, _ surroundings: Surroundings, refusesDuplicateKeys: Bool = false,
        inexactIntegers: PropertyList.ReadingOptions.InexactIntegers = .refused
    ) throws {
        name = argument == "-" ? "standard input" : argument.onOneLine
        bytes = try surroundings.contents(argument, limit: PropertyList.Limits.default.inputBytes)
        format = invocation[.from].flatMap { FormatName(word: $0) }
        fileName = argument == "-" ? nil : argument
        options = PropertyList.ReadingOptions(
            unwrapsJSON: invocation.has(.losslessJSON), refusesDuplicateKeys: refusesDuplicateKeys,
            allowsJSON5: format == .json5, readsScalarsAsJSON: !surroundings.isCalledLikeApples)
        options.inexactIntegers = inexactIntegers
    }

    /// The value, and the format that it is in.
    func value() throws(DamagedInput) -> (value: PropertyList, format: PropertyList.Format) {
        do throws(DecodingFailure) {
            if let format = format?.ofPropertyList {
                return (try PropertyList(parsing: bytes, as: format, options: options), format)
            }
            return try PropertyList.sniffed(bytes, named: fileName, options: options)
        } catch {
            throw DamagedInput(name: name, bytes: bytes, failure: error)
        }
    }

    /// What other readers may refuse or read differently in a file that was read.
    func notes() throws(DamagedInput) -> [ReadingNote] { PropertyList.notes(on: bytes, try value().format) }

    /// Whether reals in JSON have more digits than are kept.
    func roundsReals() throws(DamagedInput) -> Bool {
        guard format != .typed, try value().format == .json else { return false }
        return PropertyList.hasInexactReals(inJSON: bytes, numberOptions)
    }

    /// The JSON of the value that was read, with the numbers that only a text holds exactly.
    func keepingNumbers(in written: [UInt8]) throws -> [UInt8] {
        let (value, format) = try value()
        guard format == .json else { return written }
        return try value.keepingNumbers(in: written, of: (bytes, value), numberOptions)
    }

    private var numberOptions: PropertyList.ReadingOptions { PropertyList.ReadingOptions(allowsJSON5: true) }

    /// Whether the file is in a format that has no types but strings.
    func isUntyped() throws(DamagedInput) -> Bool {
        if format == .typed { return false }
        return try value().format == .openstep
    }

    /// The value of a file that must hold a dictionary.
    func dictionary() throws -> PropertyList.Dictionary {
        if format == .typed { return try linesRead() }
        let value = try value().value
        guard case .dictionary(let entries) = value else {
            throw CommandFailure(.damaged, "\(name): holds one \(value.kind.rawValue), not a dictionary of settings")
        }
        return entries
    }

    private func linesRead() throws(CommandFailure) -> PropertyList.Dictionary {
        do throws(TypedFailure) {
            return try TypedText.domain(from: bytes)
        } catch {
            throw CommandFailure(.damaged, "\(name):\(error.line): \(error.problem)")
        }
    }
}
