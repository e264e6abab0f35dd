/// Where a value comes from. A look-up asks the layers in the order of their ranks and takes the first answer.
public struct Layer: Hashable, Sendable {
    /// The name by which messages and `explain` call the layer.
    public let name: String
    private let rank: Int

    private init(_ name: String, _ rank: Int) {
        self.name = name
        self.rank = rank
    }

    /// What the administrator has decided. It counts only in files that nobody else can write.
    public static let forced = Layer("forced", 1)
    /// The command line of this process.
    public static let arguments = Layer("arguments", 2)
    /// The variables of this process's environment.
    public static let environment = Layer("environment", 3)
    /// The changes of an edit session that were not committed yet.
    public static let session = Layer("session", 4)
    /// The user's choices for this host.
    public static let userHost = Layer("user-host", 5)
    /// The user's choices: what is written where nothing else is said.
    public static let user = Layer("user", 6)
    /// The user's choices for all programs on this host.
    public static let globalHost = Layer("global-host", 8)
    /// The user's choices for all programs.
    public static let global = Layer("global", 9)
    /// What the administrator suggests.
    public static let site = Layer("site", 10)
    /// What the administrator suggests for all programs.
    public static let siteGlobal = Layer("site-global", 11)
    /// The defaults of the domain's schema.
    public static let factory = Layer("factory", 12)
    /// What the program has registered.
    public static let registered = Layer("registered", 13)

    /// The user's choices in another domain that was added.
    public static func suite(_ name: String) -> Layer { Layer("suite \(name)", 7) }
}

extension Layer: CustomStringConvertible {
    public var description: String { name }
}

extension Origin: CustomStringConvertible {
    public var description: String { file.map { "\(layer) (\($0))" } ?? layer.name }
}
