package import Platform

/// A place where domains are kept. A value: stores of the same place are the same store.
public struct Store: Sendable {
    package let process: StoreOfProcess

    package init(_ process: StoreOfProcess) { self.process = process }

    /// A store on a machine that need not be this one.
    package init(_ kind: Kind, on machine: Machine) { process = StoreOfProcess(kind, on: machine) }

    /// The kinds of places.
    package enum Kind: Hashable, Sendable {
        case native, foundation, gnustep, memory
        case folder(FilePath)
    }

    /// The user's own: `$XDG_CONFIG_HOME/prefs`, with the administrator's layers around it.
    public static let native = Store(.native, on: .ofThisProcess())

    /// Where programs on Swift's Foundation keep their `UserDefaults` on Linux. They take no lock: what they write at
    /// the same moment, they can still write over us.
    public static let foundation = Store(.foundation, on: .ofThisProcess())

    /// Where GNUstep programs keep theirs. It is only read.
    public static let gnustep = Store(.gnustep, on: .ofThisProcess())

    /// A folder of its own, without the layers of the machine. Nil for a path that cannot be one.
    public static func folder(_ path: String) -> Store? { folders.store(path) }

    /// A new store that keeps nothing beyond this process, for tests and trials.
    public static var memory: Store { Store(.memory, on: .ofThisProcess()) }

    private static let folders = FolderStores()
}
