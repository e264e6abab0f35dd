/// The source of a value. Of the layers that have a valid value, the one with the highest priority wins.
@nonexhaustive
public enum Layer: Hashable, Sendable {
    /// The values that the administrator forces. They are used only from files that no other user can write.
    case forced
    /// The command line of this process.
    case arguments
    /// The variables of this process's environment.
    case environment
    /// The user's choices for this host.
    case userHost
    /// The changes of an edit session, which become the user's choices when it is committed.
    case session
    /// The user's choices. A write that names no layer changes this one.
    case user
    /// The user's choices in a domain that was added with `Defaults.addSuite(named:)`.
    case suite(String)
    /// The user's choices for all programs on this host.
    case globalHost
    /// The user's choices for all programs.
    case global
    /// The values that the administrator suggests.
    case site
    /// The values that the administrator suggests for all programs.
    case siteGlobal
    /// The defaults of the domain's schema.
    case `default`
    /// The values that the program has registered.
    case registered
}

extension Layer {
    /// The name of the layer in messages and in `explain`.
    public var name: String {
        switch self {
        case .forced: "forced"
        case .arguments: "arguments"
        case .environment: "environment"
        case .userHost: "user-host"
        case .session: "session"
        case .user: "user"
        case .suite(let name): "suite \(name)"
        case .globalHost: "global-host"
        case .global: "global"
        case .site: "site"
        case .siteGlobal: "site-global"
        case .default: "default"
        case .registered: "registered"
        }
    }

    /// The position of the layer in a look-up: 0 is asked first.
    ///
    /// This alone decides which value is in force. The site's two layers are equal: each folder of the system has both.
    var position: Int {
        switch self {
        case .forced: 0
        case .arguments: 1
        case .environment: 2
        case .userHost: 3
        case .session: 4
        case .user: 5
        case .suite: 6
        case .globalHost: 7
        case .global: 8
        case .site, .siteGlobal: 9
        case .default: 10
        case .registered: 11
        }
    }

    /// The layers that a command can name, and write given the rights.
    package static let writable: [Layer] = [.user, .userHost, .site, .forced]

    /// The layers that a command can write, highest priority first.
    package static let writableByPriority = writable.sorted { $0.position < $1.position }

    /// Whether the user writes it, and not an administrator.
    package var isOfUser: Bool { self == .user || self == .userHost }

    /// Whether an administrator writes it, for all users.
    package var isOfAdministrator: Bool {
        switch self {
        case .forced, .site, .siteGlobal: true
        case .arguments, .environment, .session, .userHost, .user, .suite, .globalHost, .global, .default, .registered:
            false
        }
    }

    /// Whether the values are mere suggestions, so that a file that cannot be read is reported and skipped.
    package var isSkippedIfUnreadable: Bool { isOfAdministrator && self != .forced }

    /// Whether the values belong to the global domain.
    package var isGlobal: Bool { self == .globalHost || self == .global || self == .siteGlobal }

    /// Whether the values are stored in files.
    package var hasFile: Bool {
        switch self {
        case .arguments, .environment, .session, .default, .registered: false
        case .forced, .userHost, .user, .suite, .globalHost, .global, .site, .siteGlobal: true
        }
    }

    /// Whether the caller gives the values to this one process.
    package var isGiven: Bool { self == .arguments || self == .environment }
}

extension Layer: CustomStringConvertible {
    public var description: String { name }
}

/// The layer in which a value was found, and its file if there is one.
public struct Origin: Hashable, Sendable {
    /// The layer in which the value was found.
    public let layer: Layer
    /// The path of the file.
    public let file: String?

    package init(_ layer: Layer, file: String? = nil) {
        self.layer = layer
        self.file = file
    }
}

extension Origin: CustomStringConvertible {
    public var description: String { file.map { "\(layer) (\($0))" } ?? layer.name }
}
