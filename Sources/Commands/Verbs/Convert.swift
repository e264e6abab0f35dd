internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let convert = Verb(
        "convert", .new, "convert a file or domain to another format",
        details: [
            "A word without a slash is a domain if one of that name exists, otherwise a file; --domain NAME in its place is always a domain. The file is converted in place, with its keys sorted, and prefs undo reverts this; -o writes to another file, and - is the standard input or output.",
            "The format folder stores each key of a domain in a file of its own, as prefs(5) describes; any other format turns it into a file again.",
            "If the format cannot hold a value, nothing is written and the entry is named. Fractions of a second are dropped with a note if the format has none. A domain in JSON always wraps values that JSON has no type for; openstep, which has no types, is for files only.",
            "With --unarchive, the contents of a file that NSKeyedArchiver wrote are written; see read.",
        ],
        options: [
            .output, .dryRun, .layer, .from, .sort, .losslessJSON, .coerce, .lossy, .strict, .unarchive, .deep,
            .asDomain,
        ],
        forms: [
            [
                Operand("FILE|DOMAIN", .domainOrFile),
                Operand("FORMAT", .choice(.formats(FormatName.ofFiles + [.folder]))),
            ]
        ],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let word = invocation[operand: "FILE|DOMAIN"] ?? ""
        if invocation.has(.dryRun), word == "-" || invocation.has(.output) {
            throw CommandFailure(.usage, "convert: \(Option.dryRun.name) is for a conversion in place")
        }
        guard let format = FormatName(word: invocation[operand: "FORMAT"] ?? "") else { return .usage }
        let conversion = Conversion(Rendering(invocation, convertingTo: format))
        let access = try StoreAccess(invocation, context)
        if let output = invocation[.output] { try context.checkLanguage(ofNewFile: output) }
        return try context.progress.during("converting \(InputFile.name(word))") {
            try carryOut(conversion, of: word, access, invocation)
        }
    }

    private static func carryOut(
        _ conversion: Conversion, of word: String, _ access: StoreAccess, _ invocation: Invocation
    ) throws -> ExitStatus {
        let isForced = invocation.has(.asDomain)
        if !isForced, DomainArgument.isPath(word),
            let files = try access.context.files(matching: word, isWriting: true)
        {
            let domains = try files.words.map { try access.domain($0).requiringFormat(of: invocation) }
            let revision = Revision(access, domains, invocation, pattern: word)
            try revision.checkSingle(.output, invocation)
            let edits = try revision.domains.map { domain in
                try domain.file.isOfDomain
                    ? conversion.edit(domain, access, invocation)
                    : conversion.edit(file: domain, access, invocation)
            }
            return try revision.carryOut(edits)
        }
        if isForced || word != "-", let domain = try access.domain(toConvert: word, isForced: isForced) {
            guard !invocation.unarchives else {
                throw CommandFailure(.usage, "\(domain.word.onOneLine): a domain; --unarchive converts files")
            }
            return try conversion.convert(domain, access, invocation)
        } else if conversion.rendering.format == .folder {
            throw CommandFailure(.invalidValue, "\(word.onOneLine): only a domain of the store can be a folder")
        } else {
            return try conversion.convert(file: access.context.file(named: word), access, invocation)
        }
    }
}

extension StoreAccess {
    /// Returns the domain that a word names, or nil if it names a file.
    fileprivate func domain(toConvert word: String, isForced: Bool) throws -> AddressedDomain? {
        // The failure of an empty word is that of a file.
        if !isForced, word.isEmpty { return nil }
        if !isForced, DomainArgument.isPath(word) {
            let addressed = try domain(word)
            return addressed.file.isOfDomain ? addressed : nil
        }
        let named = try domainRatherThanFile(word, isForced: isForced) { try $0.file.status(on: system) != nil }
        guard let named, !isForced, !DomainArgument.isGlobalFlag(word), try named.file.status(on: system) == nil else {
            return named
        }
        throw CommandFailure(.notFound, "\(word.onOneLine): no domain or file has this name")
    }
}

/// The conversion of a value to another format.
private struct Conversion: Sendable {
    var rendering: Rendering

    init(_ rendering: Rendering) { self.rendering = rendering }

    func convert(
        _ domain: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation
    ) throws -> ExitStatus {
        if let output = invocation[.output] {
            guard rendering.format != .folder else {
                throw CommandFailure(.usage, "\(domain.word.onOneLine): a folder cannot be the output")
            }
            let contents = try domain.file.contents(on: access.system)
            access.warn(contents.recovery)
            guard contents.exists else { throw try access.failure(ofMissing: nil, in: domain) }
            try checkFormat(contents.format, domain, invocation)
            try access.checkExact(.dictionary(contents.values), at: [], in: domain)
            let shown = try access.publishable(contents.values.withoutHidden, of: domain, to: output)
            let value = PropertyList.dictionary(shown.values)
            noteLosses(of: value, to: output, access)
            let bytes = try bytes(of: value, domain.word)
            try access.context.write(bytes, to: output, isSensitive: shown.isSensitive)
            return .done
        }
        return try Revision(access, [domain], invocation).carryOut([edit(domain, access, invocation)])
    }

    /// Returns the conversion of a domain in place.
    func edit(_ domain: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation) throws -> DomainEdit {
        guard !domain.file.isAdopted else { throw StoreFailure(domain.file, .adopted) }
        if let format = rendering.format?.ofPropertyList, !format.canBeDomain,
            domain.file.isOfDomain || !format.hasTypes
        {
            let reason = format.hasTypes ? "no data; use json" : "no types; use gnustep"
            throw CommandFailure(
                .invalidValue,
                "\(domain.word.onOneLine): a domain cannot be \(format.rawValue), which has \(reason)")
        }
        return editInPlace(domain, access) { draft in
            try checkFormat(draft.format, domain, invocation)
            return draft.values
        }
    }

    func convert(file: String, _ access: StoreAccess, _ invocation: Invocation) throws -> ExitStatus {
        let output = invocation[.output] ?? file
        if output == file { try access.context.checkReplaceable(file) }
        let isJSON = rendering.format == .json
        // The output of `read` may be converted to a format that has the types.
        let input = try InputFile(
            file, invocation, access.context, unwrapsJSON: file == "-" && !isJSON,
            inexactIntegers: isJSON ? .rounded : .refused)
        let value = try input.openedValue(invocation, access.context)
        // What is lost of a binary file. Notes on a text are about its syntax.
        for note in try input.value().format == .binary ? input.notes() : [] {
            guard !rendering.isStrict else {
                throw CommandFailure(.invalidValue, "\(input.name): \(note.message); nothing was written")
            }
            access.context.note("\(input.name): \(note.message)")
        }
        guard file != "-", invocation[.output] == nil, value.kind == .dictionary else {
            var bytes = try bytes(of: value, input.name)
            if isJSON, !invocation.unarchives { bytes = try input.keepingNumbers(in: bytes) }
            noteLosses(of: value, to: output == "-" ? input.name : output, access)
            if invocation.has(.dryRun) {
                guard bytes != input.bytes else { return .done }
                let (former, format) = (try input.value().format.rawValue, rendering.format?.rawValue ?? "")
                try access.context.say("~ \(input.name)\(former == format ? "" : ": \(former) → \(format)")")
                return .different
            }
            try access.context.write(bytes, to: output)
            return .done
        }
        let domain = try access.domain(file).requiringFormat(of: invocation)
        return try Revision(access, [domain], invocation).carryOut([editInPlace(file: domain, access, invocation)])
    }

    /// Returns the conversion of one of several files in place. The root must be a dictionary.
    func edit(file: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation) throws -> DomainEdit {
        guard rendering.format != .folder else {
            throw CommandFailure(
                .invalidValue, "\(file.word.onOneLine): only a domain of the store can be a folder")
        }
        return editInPlace(file: file, access, invocation)
    }

    private func editInPlace(
        file: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation
    ) -> DomainEdit {
        editInPlace(file, access) { _ in
            // Reads the file again under its lock, with the same options.
            let values = try InputFile(
                file.word, invocation, access.context, inexactIntegers: rendering.format == .json ? .rounded : .refused
            ).openedDictionary(invocation, access.context)
            return rendering.withoutNulls(.dictionary(values)).dictionaryValue ?? values
        }
    }

    /// Returns the conversion of the file under its lock, so that no concurrent write is lost.
    private func editInPlace(
        _ domain: AddressedDomain, _ access: StoreAccess,
        values: @escaping @Sendable (DomainDraft) throws -> PropertyList.Dictionary
    ) -> DomainEdit {
        let format = rendering.format?.ofPropertyList ?? .binary
        var own = self
        // A domain in GNUstep's format stores fractions of a second in its own notation.
        if domain.file.isOfDomain, format == .gnustep { own.rendering.options.isLossy = false }
        let conversion = own
        var edit = DomainEdit(domain.file) { draft in
            guard draft.exists else { throw try access.failure(ofMissing: nil, in: domain) }
            if domain.file.isOfDomain, format != .json {
                try access.checkExact(.dictionary(draft.values), at: [], in: domain)
            }
            guard conversion.rendering.format != .folder else {
                draft.form = .folder
                return
            }
            let former = try values(draft)
            draft.values = try conversion.fitted(former, domain)
            conversion.noteLosses(of: .dictionary(former), to: domain.word, access)
            draft.form = .file(format)
        }
        edit.writesWholeText = true
        return edit
    }

    /// Returns the values as the file will store them. They differ only if the options allow a loss, or if wrapped
    /// values are written to a file that is not a domain, where they are plain JSON.
    private func fitted(
        _ values: PropertyList.Dictionary, _ domain: AddressedDomain
    ) throws -> PropertyList.Dictionary {
        var own = self.rendering
        let isOfDomain = domain.file.isOfDomain
        if own.format == .json, isOfDomain, !own.options.coerces { own.options.wrapsInJSON = true }
        let bytes = try Conversion(own).bytes(of: .dictionary(values), domain.word)
        guard
            own.options.coerces || own.dropsFractions(of: .dictionary(values))
                || own.options.wrapsInJSON && !isOfDomain
        else {
            return values
        }
        let options = PropertyList.ReadingOptions(unwrapsJSON: own.options.wrapsInJSON && isOfDomain)
        return try PropertyList(parsing: bytes, as: own.format?.ofPropertyList, options: options).dictionaryValue
            ?? values
    }

    private func noteLosses(of value: PropertyList, to name: String, _ access: StoreAccess) {
        guard rendering.dropsFractions(of: value) else { return }
        access.context.noteDroppedFractions(in: name == "-" ? "standard output" : name.onOneLine)
    }

    private func checkFormat(
        _ format: PropertyList.Format?, _ domain: AddressedDomain, _ invocation: Invocation
    ) throws(CommandFailure) {
        guard let wanted = invocation[.from].flatMap({ FormatName(word: $0)?.ofPropertyList }),
            let format,
            format != wanted
        else {
            return
        }
        throw CommandFailure(.damaged, "\(domain.word.onOneLine): is \(format.rawValue), not \(wanted.rawValue)")
    }

    private func bytes(of value: PropertyList, _ name: String) throws -> [UInt8] {
        do {
            return try rendering.bytes(of: value)
        } catch let failure as EncodingFailure {
            throw CommandFailure(
                .invalidValue, "\(name.onOneLine): \(failure.description.onOneLine); nothing was written")
        }
    }
}
