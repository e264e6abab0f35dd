internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let find = Verb(
        "find", .classic, "print all entries whose domain, key or value contains a word",
        details: [
            "The search ignores case. It includes keys and values at any depth, except data. Each line has the domain, the path of the entry and its value, separated by tabs; a matching key is shown with its whole value, and for a matching domain every key is. A backslash, tab or newline is printed as \\\\, \\t or \\n.",
            "Values from the global domain are shown for that domain only.",
        ],
        classicDetails: [
            "The search ignores case. It includes keys and texts at any depth, and shows the whole value of a matching key; if the name of a domain matches, all its keys are shown.",
            "With --effective, the values in force are searched; those from the global domain are shown for that domain only.",
        ],
        options: [.effective, .layer, .format(FormatName.ofValues)],
        forms: [[Operand("WORD", .word)]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let word = invocation[operand: "WORD"] ?? ""
        var finder = Finder(access, word)
        try finder.findAll()
        if let format = invocation.format, format != .classic {
            let domains = finder.found.map { ($0.heading, PropertyList.dictionary($0.entries)) }
            try context.print(.dictionary(PropertyList.Dictionary(domains)), Rendering(invocation))
            return finder.status
        }
        let isClassic = invocation.format == .classic || context.dialect == .classic
        for (heading, entries) in finder.found {
            if isClassic {
                let text = ClassicText.text(of: entries)
                try context.say("Found \(entries.count) keys in domain '\(heading.onOneLine)': \(text)")
            } else {
                try context.terminal.write(finder.lines(of: entries, in: heading), to: .output)
            }
        }
        guard finder.found.isEmpty else { return finder.status }
        guard context.dialect == .classic else { return max(finder.status, .notFound) }
        context.note("No domain, key, nor value containing '\(word.onOneLine)'")
        return finder.status
    }
}

/// Searches all domains for a word.
private struct Finder {
    private let access: StoreAccess
    private let search: TextSearch
    private let rawSearch: RawSearch?
    private var files: FileContentsCache
    private(set) var found: [(heading: String, entries: PropertyList.Dictionary)] = []
    /// The exit status. A domain that cannot be read does not stop the search.
    private(set) var status = ExitStatus.done

    init(_ access: StoreAccess, _ word: String) {
        self.access = access
        // `find` of macOS searches strings only.
        let includesNumbers = access.context.dialect == .modern
        search = TextSearch(word, includesNumbers: includesNumbers)
        rawSearch = includesNumbers && word.mayBeInNumber ? nil : RawSearch(word)
        files = FileContentsCache(on: access.system)
    }

    mutating func findAll() throws {
        let access = access
        for name in try access.shownNames() {
            let failed = try access.reportingUnreadable {
                let domain = try access.domain(name)
                if let values = try values(domain) { try find(in: values, of: domain) }
            }
            status = failed ?? status
        }
    }

    private mutating func find(in values: PropertyList.Dictionary, of domain: AddressedDomain) throws {
        let takesAll = search.finds(in: heading(domain))
        let entries = values.filter { takesAll || matches($0.key, $0.value) }
        guard takesAll || !entries.isEmpty else { return }
        let masking = access.masking(domain)
        // A match within a masked value must not be shown.
        let shown = entries.map { ($0.key, masking.hidden($0.value, at: [EntryPath.Component($0.key)])) }
            .filter { takesAll || matches($0.0, $0.1) }
        guard takesAll || !shown.isEmpty else { return }
        for (key, value) in shown { try access.checkExact(value, at: [EntryPath.Component(key)], in: domain) }
        found.append((heading(domain), PropertyList.Dictionary(shown)))
    }

    private func heading(_ domain: AddressedDomain) -> String { domain.heading(access.context.dialect) }

    /// Returns a line for each key and text that matches, or for every key of a domain whose name matches.
    func lines(of entries: PropertyList.Dictionary, in heading: String) -> String {
        var output = ""
        func append(_ value: PropertyList, _ path: [EntryPath.Component]) {
            let key = (try? KeyArgument(EntryPath(path)))?.spelling ?? ""
            output += "\(LineText.escaped(heading))\t\(LineText.escaped(key))\t\(LineText.line(of: value))\n"
        }
        func find(_ value: PropertyList, _ path: [EntryPath.Component]) {
            switch value {
            case .array(let elements):
                for (index, element) in elements.enumerated() { find(element, path + [EntryPath.Component(index)]) }
            case .dictionary(let entries): findKeys(entries, path)
            default: if search.finds(in: value) { append(value, path) }
            }
        }
        func findKeys(_ entries: PropertyList.Dictionary, _ path: [EntryPath.Component], takesAll: Bool = false) {
            for entry in entries.sortedEntries {
                let place = path + [EntryPath.Component(entry.key)]
                if takesAll || search.finds(in: entry.key) {
                    append(entry.value, place)
                } else {
                    find(entry.value, place)
                }
            }
        }
        findKeys(entries, [], takesAll: search.finds(in: heading))
        return output
    }

    private func matches(_ key: String, _ value: PropertyList) -> Bool {
        search.finds(in: key) || search.finds(in: value)
    }

    /// Returns the values of a domain's file. The file is searched before it is parsed, since most files do not match.
    private func storedValues(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        guard let rawSearch, !search.finds(in: heading(domain)) else { return try access.values(domain) }
        guard let bytes = try domain.file.bytes(on: access.system) else { return try access.values(domain) }
        if bytes.starts(with: "bplist".utf8), (try? BinaryPropertyList(parsing: bytes)) != nil,
            !rawSearch.canBe(in: bytes)
        {
            return nil
        }
        do throws(StoreFailure) {
            return try domain.file.parse(bytes).0.withoutHidden
        } catch {
            // A kept version may replace the damaged file.
            return try access.values(domain)
        }
    }

    private mutating func values(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        guard access.reading(domain) != .layer else { return try storedValues(domain) }
        let access = access
        let stored = try access.layers(in: access.files(domain)) { file in
            try files.contents(of: file) { access.warn($0) }
        }
        var values = try access.valuesInForce(access.layers(domain, stored: stored), of: domain)
        guard !stored.isEmpty || !values.entries.isEmpty else { return nil }
        if domain.name?.isGlobal != true { values.removeGlobal() }
        return values.entries
    }
}

/// A case-insensitive search for a word.
struct TextSearch: Sendable {
    /// The word in lowercase.
    private let word: [UInt8]
    /// The first byte in both cases.
    private let first: (UInt8, UInt8)
    /// Whether numbers, booleans and dates are searched too, as they are printed.
    private let includesNumbers: Bool

    init(_ word: String, includesNumbers: Bool = false) {
        self.includesNumbers = includesNumbers
        self.word = Array(word.lowercased().utf8)
        let byte = self.word.first ?? 0
        first = (byte, byte.asCapitalLetter)
    }

    /// Returns whether the text contains the word.
    func finds(in text: String) -> Bool {
        if let found = find(in: text.utf8Span.span) { return found }
        // The search above ignores the case of ASCII letters only.
        let small = text.lowercased()
        return find(in: small.utf8Span.span, isLowercase: true) ?? false
    }

    /// Returns whether a key or value in the value contains the word, at any depth.
    func finds(in value: PropertyList) -> Bool {
        switch value {
        case .string(let text): finds(in: text)
        case .integer, .real, .boolean, .date: includesNumbers && finds(in: LineText.line(of: value))
        case .array(let elements): elements.contains { finds(in: $0) }
        case .dictionary(let entries): finds(in: entries)
        default: false
        }
    }

    func finds(in entries: PropertyList.Dictionary) -> Bool {
        entries.contains { finds(in: $0.key) || finds(in: $0.value) }
    }

    /// Returns nil if the text has non-ASCII characters and has not been lowercased, so that the result is not certain.
    private func find(in text: Span<UInt8>, isLowercase: Bool = false) -> Bool? {
        var isASCII = true
        for at in text.indices {
            let byte = text[at]
            if byte >= 0x80 { isASCII = false }
            if byte == first.0 || byte == first.1, hasWord(at, in: text) { return true }
        }
        if word.isEmpty { return true }
        return isASCII || isLowercase ? false : nil
    }

    private func hasWord(_ start: Int, in text: Span<UInt8>) -> Bool {
        guard text.count - start >= word.count else { return false }
        for at in word.indices where text[start + at].asSmallLetter != word[at] { return false }
        return true
    }
}

/// A quick check whether a binary property list can contain a word, without parsing it.
///
/// Such a file stores strings as ASCII or as big-endian UTF-16. The check can be wrong if it finds the word, which may
/// span two strings, but not if it does not find it.
struct RawSearch: Sendable {
    /// The word in lowercase, which is ASCII only.
    private let word: [UInt8]
    /// The UTF-16 bytes of non-ASCII letters whose lowercase form begins with a letter of the word.
    private let foldingLetters: [(UInt8, UInt8)]

    /// Creates a check, or returns nil for a word with non-ASCII letters, which can have more than two forms.
    init?(_ word: String) {
        guard !word.isEmpty, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.word = Array(word.lowercased().utf8)
        // The kelvin sign becomes "k" in lowercase, and a capital I with a dot becomes "i" and a combining dot.
        let known: [(letter: UInt8, halves: (UInt8, UInt8))] = [
            (UInt8(ascii: "k"), (0x21, 0x2A)), (UInt8(ascii: "i"), (0x01, 0x30)),
        ]
        let letters = self.word
        foldingLetters = known.filter { letters.contains($0.letter) }.map(\.halves)
    }

    func canBe(in file: [UInt8]) -> Bool {
        file.withUnsafeBufferPointer { bytes in
            let (small, capital) = (word[0], word[0].asCapitalLetter)
            let hasFoldingLetters = !foldingLetters.isEmpty
            for at in bytes.indices {
                let byte = bytes[at]
                if byte == small || byte == capital {
                    if hasWord(at, 1, in: bytes) || hasWord(at, 2, in: bytes) { return true }
                }
                if hasFoldingLetters, byte == 0x21 || byte == 0x01, isFoldingLetter(at, in: bytes) { return true }
            }
            return false
        }
    }

    /// Returns whether the letters of the word are at intervals of `step` bytes, with zeros between them.
    private func hasWord(_ start: Int, _ step: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count - start > (word.count - 1) * step else { return false }
        for index in word.indices.dropFirst() {
            let at = start + index * step
            if bytes[at].asSmallLetter != word[index] || step == 2 && bytes[at - 1] != 0 { return false }
        }
        return true
    }

    private func isFoldingLetter(_ at: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        at + 1 < bytes.count && foldingLetters.contains { $0 == (bytes[at], bytes[at + 1]) }
    }
}

extension UInt8 {
    /// The letter in lowercase; other bytes are unchanged.
    var asSmallLetter: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self &+ 0x20 : self
    }

    /// The letter in uppercase; other bytes are unchanged.
    var asCapitalLetter: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self &- 0x20 : self
    }
}

extension String {
    /// Whether a number, a boolean or a date may contain the word when it is printed. Files do not contain that text.
    var mayBeInNumber: Bool {
        let small = lowercased()
        return small.utf8.allSatisfy { ("0123456789+-.:etz").utf8.contains($0) }
            || ["true", "false", "nan", "infinity"].contains { $0.contains(small) }
    }
}
