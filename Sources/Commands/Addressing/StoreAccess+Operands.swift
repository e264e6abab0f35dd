internal import Platform
internal import Preferences
internal import PropertyLists

/// An operand of a comparison: a domain, one of its layers, or a file.
///
///     com.example.app              the user's values, or with -currentHost those for this host
///     com.example.app@site         the values of a layer: user, user-host, site or forced
///     com.example.app@effective    the values in force
///     ./settings.plist             a file; - is the standard input
///     settings.plist               the domain of that name, or else the file
struct ComparedOperand {
    let values: PropertyList.Dictionary
    let masking: Masking
    /// The operand as named in commands; nil if no command can write it.
    let command: CommandSpelling?
}

extension StoreAccess {
    /// Resolves an operand of `diff`.
    func operand(_ word: String, _ invocation: Invocation) throws -> ComparedOperand {
        if try word == "-" || DomainArgument.isPath(word) && context.isStream(word) {
            let input = try InputFile(word, invocation, context, unwrapsJSON: true)
            return ComparedOperand(values: try input.dictionary().withoutHidden, masking: .none, command: nil)
        }
        if let (name, layer) = layerOperand(word) { return try operand(name, layer, invocation) }
        let domain = try domain(word)
        let command = CommandSpelling(word, in: domain.layer, invocation)
        if domain.name == nil, invocation.has(.from) {
            let input = try InputFile(domain.file.path.description, invocation, context)
            return ComparedOperand(values: try input.dictionary(), masking: masking(domain), command: command)
        }
        guard let values = try values(domain) else {
            guard domain.name == nil else {
                // A word without a slash is a domain if one of that name exists, and otherwise a file.
                let file = try context.file(named: word)
                guard try machine.fileSystem.status(of: context.absolutePath(file))?.kind == .file else {
                    throw try failure(ofMissing: nil, in: domain)
                }
                return try operand(file, invocation)
            }
            throw CommandFailure(.notFound, "\(word.onOneLine): no such file")
        }
        return ComparedOperand(values: values, masking: masking(domain), command: command)
    }

    /// A layer without the domain is treated as empty.
    private func operand(
        _ name: String, _ layer: Layer?, _ invocation: Invocation
    ) throws -> ComparedOperand {
        let named = try domain(name)
        guard let domain = named.name else {
            throw CommandFailure(.usage, "\(name.onOneLine): a file has no layers")
        }
        guard let layer else {
            guard let values = try effectiveValues(named, withGlobal: invocation.has(.globalKeys)) else {
                throw CommandFailure.noDomain(named, context)
            }
            return ComparedOperand(values: values, masking: masking(named), command: nil)
        }
        try check(layer)
        let addressed = try self.domain(domain, in: layer)
        return ComparedOperand(
            values: try values(addressed) ?? [:], masking: masking(addressed),
            command: CommandSpelling(name, in: layer, invocation))
    }

    /// Splits `DOMAIN@LAYER`. The layer is nil for `effective`; the result is nil for other words.
    private func layerOperand(_ word: String) -> (domain: String, layer: Layer?)? {
        guard let sign = word.unicodeScalars.lastIndex(of: "@"), sign != word.startIndex else { return nil }
        let (name, ending) = (String(word[..<sign]), String(word[sign...].dropFirst()))
        if ending == "effective" { return (name, nil) }
        return Layer.writable.first { $0.name == ending }.map { (name, $0) }
    }
}
