/// Where a value comes from. A look-up asks the layers in their order and takes the first answer.
public struct Layer: Hashable, Sendable {
    /// The name by which messages and `explain` call the layer.
    public let name: String

    private init(_ name: String) { self.name = name }

    /// What the administrator has decided. It counts only in files that nobody else can write.
    public static let forced = Layer("forced")
    /// The command line of this process.
    public static let arguments = Layer("arguments")
    /// The variables of this process's environment.
    public static let environment = Layer("environment")
    /// The changes of an edit session that were not committed yet.
    public static let session = Layer("session")
    /// The user's choices for this host.
    public static let userHost = Layer("user-host")
    /// The user's choices: what is written where nothing else is said.
    public static let user = Layer("user")
    /// The user's choices for all programs on this host.
    public static let globalHost = Layer("global-host")
    /// The user's choices for all programs.
    public static let global = Layer("global")
    /// What the administrator suggests.
    public static let site = Layer("site")
    /// What the administrator suggests for all programs.
    public static let siteGlobal = Layer("site-global")
    /// The defaults of the domain's schema.
    public static let factory = Layer("factory")
    /// What the program has registered.
    public static let registered = Layer("registered")

    /// The user's choices in another domain that was added.
    public static func suite(_ name: String) -> Layer { Layer("suite \(name)") }
}

extension Layer: CustomStringConvertible {
    public var description: String { name }
}
