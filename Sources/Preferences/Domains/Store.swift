package import Platform

/// A place where domains are stored. All values for the same place represent the same store.
public struct Store: Sendable {
    package let process: SharedStore

    package init(_ process: SharedStore) { self.process = process }

    /// A store on a machine that may be simulated.
    package init(_ kind: Kind, on machine: Machine) { process = SharedStore(kind, on: machine) }

    package enum Kind: Hashable, Sendable {
        case native, foundation, gnustep, memory
        case folder(FilePath)
    }

    /// The user's own store, `$XDG_CONFIG_HOME/prefs`, with the layers of the administrator.
    public static let native = Store(.native, on: .ofThisProcess())

    /// The files in which programs that use Swift's Foundation on Linux keep their `UserDefaults`. These programs take
    /// no lock and can overwrite concurrent changes.
    public static let foundation = Store(.foundation, on: .ofThisProcess())

    /// The files in which GNUstep programs keep their defaults. This store is read-only.
    public static let gnustep = Store(.gnustep, on: .ofThisProcess())

    /// Returns a store in a folder, without the administrator's layers, or nil if the path is invalid.
    public static func folder(_ path: String) -> Store? { folders.store(path) }

    /// A new store in memory, for tests and experiments.
    public static var memory: Store { Store(.memory, on: .ofThisProcess()) }

    private static let folders = FolderStores()
}
