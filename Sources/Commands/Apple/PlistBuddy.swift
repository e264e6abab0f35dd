internal import Platform
internal import PropertyLists

/// The command `PlistBuddy` of macOS: commands given by `-c`, or read from the standard input after a prompt.
struct PlistBuddy {
    static let name = "PlistBuddy"
    private let context: CommandContext
    private var file: AppleFile?
    private var document = Document(root: .dictionary([:]))
    /// The property list as the file has it, and the commands that have changed the document since.
    private var loaded: PropertyList?
    private var changes: [(command: Command, revision: AppleFile.Revision)] = []
    private var printsXML = false
    private var followsLinks = true
    private var status = ExitStatus.done

    private init(_ context: CommandContext) { self.context = context }

    /// Runs the command with the context's arguments.
    static func run(in context: CommandContext) throws -> ExitStatus {
        let words = context.environment.arguments.dropFirst()
        if words.first == Verb.complete.name {
            try context.terminal.write(Completion.Answer(to: words.dropFirst(), options).text, to: .output)
            return .done
        }
        var buddy = PlistBuddy(context)
        return try buddy.run(Array(words))
    }

    private mutating func run(_ words: [String]) throws -> ExitStatus {
        // Commands are parsed before any of them runs, so that a misspelled one changes nothing.
        var (commands, names, asksHelp): ([Command], [String], Bool) = ([], [], false)
        var failure: PlistBuddyFailure?
        var rest = words[...]
        followsLinks = !words.contains("-l")
        while let word = rest.popFirst() {
            switch word {
            case "-c":
                guard let text = rest.popFirst() else { return try usage() }
                do throws(PlistBuddyFailure) {
                    commands.append(try Command(parsing: text))
                } catch {
                    failure = failure ?? error
                }
            case "-x": printsXML = true
            case "-l": break
            case "-h", "-help", "--help": asksHelp = true
            default: names.append(word)
            }
        }
        if asksHelp {
            try say(Self.help)
            return names.isEmpty ? .appleFailure : .done
        }
        guard let name = names.first else { return try usage() }
        // Only the path of the file can have other bytes.
        if let word = words.first(where: { ByteText.holdsRaw($0) && !names.contains($0) }) {
            try say("\(word.shown) is not UTF-8\n")
            return .appleFailure
        }
        guard try load(name) else { return .appleFailure }
        guard names.count == 1 else {
            try say("Invalid Arguments\n\n")
            return .appleFailure
        }
        if let failure {
            try report(failure)
            return status
        }
        guard commands.isEmpty else {
            for command in commands { try perform(command) }
            if !changes.isEmpty { try save() }
            return status
        }
        return try converse()
    }

    private func say(_ text: String) throws { try context.terminal.write(text, to: .output) }

    private func usage() throws -> ExitStatus {
        try say(Self.usage + "\n")
        return .appleFailure
    }

    /// Asks for commands until `Exit` or the end of the input. Changes that were not saved are dropped.
    private mutating func converse() throws -> ExitStatus {
        while true {
            switch try context.dialogue.answer(to: "Command: ", isSecret: false, completesLine: false) {
            case .endOfInput: return status
            case .interrupted:
                context.dialogue.endIfInterrupted()
                return .appleFailure
            case .line(let bytes):
                let line = String(decoding: bytes, as: UTF8.self)
                if line.isEmpty { continue }
                do throws(PlistBuddyFailure) {
                    let command = try Command(parsing: line)
                    if command == .exit { return status }
                    try performing(command)
                } catch {
                    try report(error)
                }
            }
        }
    }

    private mutating func performing(_ command: Command) throws(PlistBuddyFailure) {
        do {
            try perform(command)
        } catch {
            throw PlistBuddyFailure("\(Prefs.explanation(of: error).1.joined(separator: " "))")
        }
    }

    private mutating func report(_ failure: PlistBuddyFailure) throws {
        if failure.isError { status = .appleFailure }
        let lines = failure.message.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        if failure.stream == .errors { return complain(lines) }
        try say(lines.map { $0.shown + "\n" }.joined())
    }

    /// Prints messages. If standard error cannot be written, the other commands still run and the file is saved.
    private func complain(_ lines: [String]) {
        try? context.terminal.write(lines.map { $0.shown + "\n" }.joined(), to: .errors)
    }

    private mutating func perform(_ command: Command) throws {
        do {
            switch command {
            case .help: try say(Self.help)
            // On macOS, `-c Exit` neither ends the command nor prevents saving.
            case .exit: break
            case .save:
                try say("Saving...\n")
                try save()
            case .revert:
                try say("Reverting to last saved state...\n")
                if let name = file?.name { _ = try load(name) }
            case .show(let entry):
                guard let value = document.value(entry) else { throw PlistBuddyFailure.missing("Print", entry) }
                try context.terminal.write(printed(value), to: .output)
            default:
                var changed = document
                let terminal = context.terminal
                defer { document = changed }
                let step = try changed.apply(command, FileReader(context: context)) { note in
                    try terminal.write(note.shown + "\n", to: .output)
                }
                if changed.root != document.root {
                    changes.append((command, AppleFile.Revision(value: changed.root, step: step)))
                }
            }
        } catch let failure as PlistBuddyFailure {
            try report(failure)
        } catch let failure as EntryPath.Failure {
            try report(PlistBuddyFailure("\(failure)"))
        }
    }

    private func printed(_ value: PropertyList) throws -> [UInt8] {
        if printsXML { return try AppleFile.bytes(of: AppleFile.Contents(value: value, format: .xml)) }
        var bytes: [UInt8] = []
        value.print(to: &bytes, indent: 0)
        return bytes + [UInt8(ascii: "\n")]
    }

    // MARK: The file

    /// Reads the file. Returns false, after a message, if it cannot be read.
    private mutating func load(_ name: String) throws -> Bool {
        (changes, loaded) = ([], nil)
        do {
            if !followsLinks, try context.absolutePath(name).isThroughLink(in: context.fileSystem) {
                let code = ErrorCode.tooManySymbolicLinks.description
                complain(["Error Opening File: \(name) [\(code)]"])
                try say("Error Reading File: \(name)".shown + "\n")
                return false
            }
            let file = try AppleFile(name, context)
            self.file = file
            loaded = try file.contents()?.value
            if loaded == nil { try say("File Doesn't Exist, Will Create: \(name)".shown + "\n") }
            document = Document(root: loaded ?? .dictionary([:]))
            return true
        } catch  where (error as? SystemFailure)?.isBrokenPipe != true {
            complain(Prefs.explanation(of: error).1)
            try say("Error Reading File: \(name)".shown + "\n")
            return false
        }
    }

    /// Writes the document. If another program has changed the file since, the commands are applied to its version.
    private mutating func save() throws {
        guard let file else { return }
        do {
            if let loaded {
                let (changes, files) = (changes, FileReader(context: context))
                try file.edit(mayBecomeXML: true) { contents in
                    guard contents.value != loaded else { return changes.map(\.revision) }
                    var fresh = Document(root: contents.value)
                    return try changes.map { change in
                        let step = try fresh.apply(change.command, files) { _ in }
                        return AppleFile.Revision(value: fresh.root, step: step)
                    }
                }
            } else {
                try file.replace(AppleFile.Contents(value: document.root, format: .xml))
            }
            (loaded, changes) = (document.root, [])
        } catch  where (error as? SystemFailure)?.isBrokenPipe != true {
            let reason = Prefs.explanation(of: error).1.joined(separator: " ")
            try report(PlistBuddyFailure("Error Writing File: \(file.name) [\(reason)]"))
        }
    }
}

extension FilePath {
    /// Whether any component of the absolute path is a symbolic link.
    fileprivate func isThroughLink(in files: any FileSystem) throws -> Bool {
        var path = self
        while path != .root {
            if try files.destination(ofLink: path) != nil { return true }
            path = path.parent
        }
        return false
    }
}

/// A command that could not be carried out, or not fully.
struct PlistBuddyFailure: Error, Hashable {
    let message: String
    var stream = StandardStream.errors
    /// Whether the exit status reports it.
    var isError = true

    init(_ message: String, on stream: StandardStream = .errors, isError: Bool = true) {
        (self.message, self.stream, self.isError) = (message, stream, isError)
    }

    static func missing(_ verb: String, _ entry: PlistBuddy.Entry) -> PlistBuddyFailure {
        PlistBuddyFailure("\(verb): Entry, \"\(entry.text)\", Does Not Exist")
    }
}

// MARK: Parsing

extension PlistBuddy {
    /// Keys and indexes with colons between them. A leading colon begins at the root.
    struct Entry: Hashable, Sendable {
        let text: String
        let isAbsolute: Bool
        let components: [String]

        init(_ text: String) {
            self.text = text
            var (components, current, isEscaped) = ([String](), "", false)
            for scalar in text.unicodeScalars {
                if isEscaped, scalar != ":" { current.unicodeScalars.append("\\") }
                if scalar == "\\", !isEscaped {
                    isEscaped = true
                    continue
                }
                if scalar == ":", !isEscaped {
                    components.append(current)
                    current = ""
                } else {
                    current.unicodeScalars.append(scalar)
                }
                isEscaped = false
            }
            if isEscaped { current += "\\" }
            components.append(current)
            isAbsolute = components.count > 1 && components[0].isEmpty
            self.components = isAbsolute ? Array(components.dropFirst()) : components
        }
    }

    enum ValueType: String, Sendable, CaseIterable {
        case string, array, dict, bool, real, integer, date, data
    }

    enum Command: Hashable, Sendable {
        case help, exit, save, revert
        case clear(ValueType?, word: String)
        case show(Entry)
        case set(Entry, String)
        case add(Entry, ValueType, String)
        case copy(Entry, to: Entry)
        case delete(Entry)
        case merge(String, Entry?, isRecursive: Bool)
        case importing(Entry, String)
        case enter(Entry)
    }
}

extension PlistBuddy.Command {
    /// The words for the commands. A command may be followed at once by the colon of an entry.
    private static let names: [(word: String, name: String)] = [
        ("help", "help"), ("?", "help"), ("exit", "exit"), ("quit", "exit"), ("bye", "exit"), ("save", "save"),
        ("revert", "revert"), ("clear", "clear"), ("print", "print"), ("ls", "print"), ("set", "set"), ("=", "set"),
        ("add", "add"), ("+", "add"), ("copy", "copy"), ("cp", "copy"), ("delete", "delete"), ("remove", "delete"),
        ("rm", "delete"), ("-", "delete"), ("merge", "merge"), ("import", "import"), ("cd", "cd"),
    ]

    init(parsing text: String) throws(PlistBuddyFailure) {
        let unknown = PlistBuddyFailure("Unrecognized Command", on: .output)
        let lowercased = text.lowercased()
        let found = Self.names.first { name in
            guard lowercased.hasPrefix(name.word) else { return false }
            let next = lowercased.unicodeScalars.dropFirst(name.word.unicodeScalars.count).first
            return next == nil || next == " " || next == "\t" || next == ":" || next == "\""
        }
        guard let (word, name) = found else { throw unknown }
        var rest = text.unicodeScalars.dropFirst(word.unicodeScalars.count)
        func entry() throws(PlistBuddyFailure) -> PlistBuddy.Entry { PlistBuddy.Entry(try atom(&rest)) }
        switch name {
        case "help": self = .help
        case "exit": self = .exit
        case "save": self = .save
        case "revert": self = .revert
        case "clear":
            let word = try atom(&rest)
            self = .clear(PlistBuddy.ValueType(rawValue: word.lowercased()), word: word)
        case "print": self = .show(try entry())
        case "set": self = .set(try entry(), try atom(&rest, isRest: true))
        case "add":
            let place = try entry()
            let word = try atom(&rest)
            guard let type = PlistBuddy.ValueType(rawValue: word.lowercased()) else {
                throw PlistBuddyFailure("Unrecognized Type: \(word)", on: .output)
            }
            self = .add(place, type, try atom(&rest, isRest: true, isErrorIfUnclosed: false))
        case "copy": self = .copy(try entry(), to: try entry())
        case "delete": self = .delete(try entry())
        case "merge":
            var file = try atom(&rest)
            let isRecursive = file == "-r"
            if isRecursive { file = try atom(&rest) }
            let place = try entry()
            self = .merge(file, place.text.isEmpty ? nil : place, isRecursive: isRecursive)
        case "import": self = .importing(try entry(), try atom(&rest))
        default: self = .enter(try entry())
        }
    }
}

/// Takes a word from a command, or the rest of it. Quotes of both kinds group words. A backslash escapes the next
/// character; `\n` and `\t` are a line break and a tab, and `\:` stays for the parser of entries.
///
/// - Parameter isErrorIfUnclosed: Whether an open quote makes the exit status 1.
private func atom(
    _ rest: inout Substring.UnicodeScalarView, isRest: Bool = false, isErrorIfUnclosed: Bool = true
) throws(PlistBuddyFailure) -> String {
    rest = rest.drop { $0 == " " || $0 == "\t" }
    var (result, isEscaped, isInSingle, isInDouble) = (String.UnicodeScalarView(), false, false, false)
    while let scalar = rest.popFirst() {
        if isEscaped {
            isEscaped = false
            switch scalar {
            case "t": result.append("\t")
            case "n": result.append("\n")
            case ":": result.append(contentsOf: "\\:".unicodeScalars)
            default: result.append(scalar)
            }
            continue
        }
        switch scalar {
        case "\\": isEscaped = true
        // Each kind of quote is noticed inside the other, as on macOS: "it's" has an open quote.
        case "\"": isInDouble.toggle()
        case "'": isInSingle.toggle()
        case " ", "\t":
            if !isRest, !isInSingle, !isInDouble { return String(result) }
            result.append(scalar)
        default: result.append(scalar)
        }
    }
    guard !isInSingle, !isInDouble else {
        throw PlistBuddyFailure("Parse Error: Unclosed Quotes", on: .output, isError: isErrorIfUnclosed)
    }
    return String(result)
}

// MARK: Texts

extension PlistBuddy {
    /// The options for completion, with their descriptions.
    static let options: [(word: String, summary: String)] = [
        ("-c", "run a command"), ("-x", "print XML"), ("-l", "follow no symbolic links"), ("-h", "print help"),
    ]

    private static let usage = """
        Usage: PlistBuddy [-cxlh] <file.plist>
            -c "<command>" run a command; may be repeated. Without it, commands are read after a prompt
            -x print property lists as XML
            -l do not follow symbolic links in the path of the file
            -h print this text and the commands

        """

    private static let help =
        usage + """

            Commands, in upper or lower case:
                Help                          print this text
                Exit                          end; changes that were not saved are dropped.
                                              It does nothing after -c
                Save                          write the changes to the file
                Revert                        read the file again
                Clear [<type>]                begin with an empty root of the type
                Print [<entry>]               print an entry, or everything
                Set <entry> <value>           set an entry, which keeps its type
                Add <entry> <type> [<value>]  add an entry
                Copy <entry> <new entry>      copy an entry
                Delete <entry>                delete an entry
                Merge <file> [<entry>]        add the entries of a property list; -r before the file goes
                                              into containers that exist on both sides
                Import <entry> <file>         set an entry to the bytes of a file

            An entry is keys and array indexes, with a colon before each:
                :CFBundleURLTypes:0:CFBundleURLSchemes
            \\: is a colon in a key. A final colon is the place after the last element of an array. Quotes
            group words.

            Types: string, array, dict, bool, real, integer, date, data. See PlistBuddy(8).

            """
}
