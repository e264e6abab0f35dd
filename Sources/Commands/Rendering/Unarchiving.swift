internal import Preferences
internal import PropertyLists

extension Option {
    package static let unarchive = Option("--unarchive", "open a keyed archive of NSKeyedArchiver")
    package static let deep = Option("--deep", "also open archives in data; implies --unarchive")
}

extension Invocation {
    /// Whether keyed archives are to be opened.
    var unarchives: Bool { has(.unarchive) || has(.deep) }
}

extension CommandContext {
    /// Returns the contents of a keyed archive, or nil if the value is not one. Archives in data that cannot be opened
    /// are reported.
    func opened(_ value: PropertyList, _ name: String, _ invocation: Invocation) throws -> PropertyList? {
        var value = value
        if case .data(let data) = value, let archive = try? PropertyList(parsing: data) { value = archive }
        guard KeyedArchive.isArchive(value) || invocation.has(.deep) else { return nil }
        do throws(KeyedArchive.Failure) {
            guard invocation.has(.deep) else { return try KeyedArchive(value).value }
            let opened = try KeyedArchive.openAll(in: value)
            for failure in opened.failures { note("\(name.onOneLine): \(failure)") }
            return opened.value
        } catch {
            throw CommandFailure(.damaged, "\(name.onOneLine): \(error)")
        }
    }

    fileprivate func required(_ opened: PropertyList?, _ name: String) throws(CommandFailure) -> PropertyList {
        guard let opened else {
            throw CommandFailure(
                .invalidValue, "\(name.onOneLine): not a keyed archive; use --deep to open archives in its data")
        }
        return opened
    }
}

extension StoreAccess {
    /// Returns an entry of a file that is a keyed archive, or the contents of a value that is one.
    func openedValue(
        _ key: KeyArgument?, in domain: AddressedDomain, _ invocation: Invocation
    ) throws -> PropertyList? {
        guard let values = try shownValues(domain) else { return nil }
        let whole = PropertyList.dictionary(values)
        if let opened = try context.opened(whole, domain.word, invocation) {
            return key.map { opened[$0.path] } ?? opened
        }
        guard let key else { return try context.required(nil, domain.word) }
        guard let value = whole[key.path] else { return nil }
        let name = "\(domain.word) \(key.spelling)"
        return try context.required(context.opened(value, name, invocation), name)
    }
}

extension InputFile {
    /// Returns the value, or the contents of the keyed archive if that is asked for.
    func openedValue(_ invocation: Invocation, _ context: CommandContext) throws -> PropertyList {
        let value = try value().value
        guard invocation.unarchives else { return value }
        return try context.required(context.opened(value, name, invocation), name)
    }

    /// Returns the same value, which must be a dictionary.
    func openedDictionary(_ invocation: Invocation, _ context: CommandContext) throws -> PropertyList.Dictionary {
        guard invocation.unarchives else { return try dictionary() }
        let value = try openedValue(invocation, context)
        guard case .dictionary(let entries) = value else {
            throw CommandFailure(.damaged, "\(name): expected a dictionary, not a value of type \(value.kind.rawValue)")
        }
        return entries
    }
}
