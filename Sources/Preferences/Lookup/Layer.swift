internal import SettingsSchema

/// The source of a value. Of the layers that have a valid value, the first one in this order wins.
@nonexhaustive
public enum Layer: Hashable, Comparable, CaseIterable, Sendable {
    /// The values that the administrator forces. They are used only from files that no other user can write.
    case forced
    /// The command line of this process.
    case arguments
    /// The variables of this process's environment.
    case environment
    /// The files that the program was told to read, such as that of `--config`.
    case file
    /// The values of a provider, which the program searches with `SearchedLayer.provider(_:)`.
    case provider
    /// The user's choices for this host.
    case userHost
    /// The changes of an edit session, which become the user's choices when it is committed.
    case session
    /// The user's choices. A write that names no layer changes this one.
    case user
    /// The user's choices in a domain that was added with `Defaults.addSuite(named:)`.
    case suite
    /// The user's choices for all programs on this host.
    case globalHost
    /// The user's choices for all programs.
    case global
    /// The values that the administrator suggests.
    case site
    /// The values that the administrator suggests for all programs. Each folder of the administrator is searched for
    /// `site` and `siteGlobal` before the next one.
    case siteGlobal
    /// The defaults of the domain's schema.
    case `default`
    /// The values that the program has registered.
    case registered
}

// To add a layer, add a case above, at its place in a look-up, and a row here. Lists of layers follow from these.
extension Layer {
    /// The facts about a layer.
    private var facts: Facts {
        switch self {
        case .forced: Facts("forced", .file(.forced, .domain), shownAs: .forced)
        case .arguments: Facts("arguments", .caller)
        case .environment: Facts("environment", .caller)
        case .file: Facts("file", .path)
        case .provider: Facts("provider", .program)
        case .userHost: Facts("user-host", .file(.userHost, .domain), shownAs: .userHost)
        case .session: Facts("session", .program)
        case .user: Facts("user", .file(.user, .domain), shownAs: .user)
        case .suite: Facts("suite", .file(.user, .suites))
        case .globalHost: Facts("global-host", .file(.userHost, .globalDomain))
        case .global: Facts("global", .file(.user, .globalDomain))
        case .site: Facts("site", .file(.site, .domain))
        case .siteGlobal: Facts("site-global", .file(.site, .globalDomain))
        case .default: Facts("default", .program, shownAs: .default)
        case .registered: Facts("registered", .program)
        }
    }

    private struct Facts {
        let name: String
        let provider: Provider
        let shown: Schema.ValueInForce.Source

        init(_ name: String, _ provider: Provider, shownAs shown: Schema.ValueInForce.Source? = nil) {
            (self.name, self.provider, self.shown) = (name, provider, shown ?? .other(name))
        }
    }

    /// The provider of a layer's values.
    enum Provider: Hashable {
        /// Files in the folders of a place.
        case file(Place, Subject)
        /// The caller of this process.
        case caller
        /// A file outside the store, whose path the caller or the program chooses.
        case path
        /// The program itself.
        case program
    }

    /// The folders of a layer, in the order in which commands list their layers.
    enum Place: Hashable, CaseIterable { case user, userHost, site, forced }

    /// The domains whose files a look-up in a domain reads.
    enum Subject: Hashable { case domain, suites, globalDomain }
}

extension Layer {
    /// The name of the layer in messages, in `explain` and for `--layer`.
    public var name: String { facts.name }

    var provider: Provider { facts.provider }

    /// The layer as help and forms show it.
    var shown: Schema.ValueInForce.Source { facts.shown }

    private var place: Place? {
        if case .file(let place, _) = provider { place } else { nil }
    }

    private var subject: Subject? {
        if case .file(_, let subject) = provider { subject } else { nil }
    }

    /// The layers that a command can name, and write given the rights, in the order of help and messages.
    package static let writable = Place.allCases.compactMap { place in
        allCases.first { $0.provider == .file(place, .domain) }
    }

    /// The layers that a command can write, highest priority first.
    package static let writableByPriority = allCases.filter { $0.subject == .domain }

    /// Whether it has the user's own values of the domain.
    package var isOfUser: Bool { subject == .domain && (place == .user || place == .userHost) }

    /// Whether a store in memory has the layer. It has none for this host, and none of an administrator.
    var isInMemoryStore: Bool { place == .user }

    /// Whether an administrator writes it, for all users.
    package var isOfAdministrator: Bool { place == .site || place == .forced }

    /// Whether the values are mere suggestions, so that a file that cannot be read is reported and skipped.
    package var isSkippedIfUnreadable: Bool { place == .site }

    /// Whether the values belong to the global domain.
    package var isGlobal: Bool { subject == .globalDomain }

    /// Whether the values are stored in files.
    package var hasFile: Bool { place != nil || provider == .path }

    /// Whether the caller gives the values to this one process.
    package var isGiven: Bool { provider == .caller }
}

/// A layer that a program searches, at the place where it wants it.
///
///     let defaults = try Defaults(
///         "com.example.service", layers: [.arguments, .environment, .file("/etc/service.json"), .user])
public struct SearchedLayer: Sendable {
    enum Source {
        case layers([Layer])
        case file(path: String, isRequired: Bool)
        case provider(any SettingsProvider)
    }

    let source: Source

    private init(_ layers: Layer...) { source = .layers(layers) }
    private init(_ source: Source) { self.source = source }

    /// The command line of this process.
    public static let arguments = SearchedLayer(.arguments)
    /// The variables of this process's environment, and then the file that a parsed command line has named as
    /// configuration.
    public static let environment = SearchedLayer(.environment, .file)
    /// The user's choices in the domain, first those for this host, and then those in the domains of suites.
    public static let user = SearchedLayer(.userHost, .user, .suite)
    /// The user's choices for all programs, first those for this host.
    public static let global = SearchedLayer(.globalHost, .global)
    /// The values that the administrator suggests, first those for the domain.
    public static let site = SearchedLayer(.site, .siteGlobal)

    /// A file with settings: a property list in any format, JSON with comments, or TOML.
    ///
    /// - Parameters:
    ///   - path: The path, which can begin with `~/`.
    ///   - isRequired: Whether it is an error if there is no file. Otherwise one can appear later.
    public static func file(_ path: String, isRequired: Bool = false) -> SearchedLayer {
        SearchedLayer(.file(path: path, isRequired: isRequired))
    }

    /// The values of a source of the program's own.
    public static func provider(_ provider: any SettingsProvider) -> SearchedLayer {
        SearchedLayer(.provider(provider))
    }
}

extension Layer: CustomStringConvertible {
    public var description: String { name }
}

/// The layer in which a value was found, and its file if there is one.
public struct Origin: Hashable, Sendable {
    /// The layer in which the value was found.
    public let layer: Layer
    /// The name of the domain, for a value in the layer `suite`, or that of a provider; otherwise nil.
    public let name: String?
    /// The path of the file.
    public let file: String?
    /// Whether the layer has an invalid value now, and this is the last valid one that this process read from it.
    public let isFormer: Bool

    package init(_ layer: Layer, named name: String? = nil, file: String? = nil, isFormer: Bool = false) {
        self.layer = layer
        self.name = name
        self.file = file
        self.isFormer = isFormer
    }

    /// The origin of the last valid value of the layer.
    var former: Origin { Origin(layer, named: name, file: file, isFormer: true) }
}

extension Origin: CustomStringConvertible {
    public var description: String {
        let name = name.map { "\(layer) \($0)" } ?? layer.name
        return (isFormer ? "former value of " : "") + (file.map { "\(name) (\($0))" } ?? name)
    }
}
