internal import Platform
internal import Preferences
internal import PropertyLists

/// The values that files declare for each domain.
struct Declaration: Sendable {
    private(set) var domains: [DomainName: PropertyList.Dictionary] = [:]
    /// Whether a file is in a format without types other than strings.
    private var isUntyped = false
    /// The file of each declared key, for messages about contradictions.
    private var sources: [DomainName: [String: String]] = [:]

    /// Reads the files named on the command line.
    ///
    /// - Parameter only: The domain of the single file, if the command names it.
    init(_ arguments: [String], only: String?, _ invocation: Invocation, _ context: CommandContext) throws {
        if only != nil, arguments.count > 1 {
            throw CommandFailure(.usage, "apply: --domain requires a single file, not \(arguments.count)")
        }
        if let only, DomainArgument.isPath(only) {
            let words = ([only] + arguments).map { ShellWord.quoted($0.onOneLine) }.joined(separator: " ")
            throw CommandFailure(.usage, "apply changes domains, not files; use `prefs import \(words)`")
        }
        let holdsDomains = invocation.has(.severalDomains)
        guard only == nil || !holdsDomains else {
            throw CommandFailure(.usage, "apply: --domain is for a file with one domain, --domains for several")
        }
        for argument in try arguments.flatMap({ try Self.files(at: $0, context) }) {
            // The name of a stream does not indicate its format.
            let name = try context.isStream(argument) ? "" : argument
            let file = try InputFile(argument, invocation, context, unwrapsJSON: true)
            let values = try file.dictionary()
            if try file.isUntyped() { isUntyped = true }
            if let only {
                try add(values, to: try DomainName(word: only), file)
            } else if holdsDomains {
                for entry in values {
                    guard let values = entry.value.dictionaryValue else {
                        throw CommandFailure(
                            .usage, "\(file.name): \(entry.key.onOneLine) is not a dictionary, so it is not a domain")
                    }
                    try add(values, to: try Self.domain(entry.key, in: file), file)
                }
            } else {
                guard values.isEmpty || values.contains(where: { $0.value.kind != .dictionary }) else {
                    throw CommandFailure(
                        .usage,
                        "\(file.name): all values are dictionaries; use --domains if the keys are domains, or --domain if the file is one domain"
                    )
                }
                try add(values, to: try Self.domain(ofFile: name, file.name), file)
            }
        }
    }

    /// Returns the values declared for a domain. Values from formats without types are converted to the declared types.
    func values(for domain: AddressedDomain, in access: StoreAccess) -> PropertyList.Dictionary {
        let values = domain.name.flatMap { domains[$0] } ?? [:]
        return isUntyped ? access.adapted(values, in: domain) : values
    }

    private mutating func add(_ values: PropertyList.Dictionary, to domain: DomainName, _ file: InputFile) throws {
        var declared = domains[domain] ?? [:]
        for entry in values.withoutHidden {
            if let other = declared[entry.key], other != entry.value {
                throw CommandFailure(
                    .invalidValue,
                    "\(file.name): \(domain) \(entry.key.onOneLine): \(sources[domain]?[entry.key] ?? "another file") declares a different value"
                )
            }
            declared[entry.key] = entry.value
            sources[domain, default: [:]][entry.key] = file.name
        }
        domains[domain] = declared
    }

    private static func domain(_ name: String, in file: InputFile) throws -> DomainName {
        do throws(DomainName.Failure) {
            return try DomainName(word: name)
        } catch {
            throw CommandFailure(.usage, "\(file.name): \(error)")
        }
    }

    private static let endings = [".plist", ".json", ".xml"]

    /// Returns the declarations in a folder, sorted, or the argument itself if it is not a folder.
    private static func files(at argument: String, _ context: CommandContext) throws -> [String] {
        guard argument != "-", try context.fileSystem.status(of: context.path(argument))?.kind == .folder else {
            return [argument]
        }
        let names = try context.fileSystem.names(in: context.path(argument)) ?? []
        let files = names.map(\.description).filter { name in
            !name.hasPrefix(".") && endings.contains { name.hasSuffix($0) }
        }
        guard !files.isEmpty else {
            throw CommandFailure(
                .notFound, "\(argument.onOneLine): no file in this folder ends in \(endings.joined(separator: ", "))")
        }
        return files.sorted { $0.isBefore($1) }.map { argument + (argument.hasSuffix("/") ? "" : "/") + $0 }
    }

    /// Returns the domain that a file is named after.
    private static func domain(ofFile argument: String, _ shown: String) throws -> DomainName {
        var name = argument.split(separator: "/").last.map(String.init) ?? argument
        for ending in endings where name.hasSuffix(ending) {
            name = String(name.dropLast(ending.count))
            break
        }
        do throws(DomainName.Failure) {
            return try DomainName(name)
        } catch {
            throw CommandFailure(
                .usage, "\(shown): contains one domain but does not name it; use --domain: \(error)")
        }
    }
}
