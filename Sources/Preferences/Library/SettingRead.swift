public import PropertyLists
internal import SettingsSchema
internal import Synchronization

/// A value that the program read.
public struct SettingRead: Sendable, Hashable {
    /// The key, or its path in the domain for a setting of a scope.
    public let key: String
    /// The value, masked if it is a secret; nil if no layer has one, so that the program used a default of its own.
    public let value: PropertyList?
    /// The origin of the value.
    public let origin: Origin?
}

extension Defaults {
    /// Calls `report` with each value that the program reads by its setting or key, with this instance or with a
    /// snapshot that is taken later, until the returned observation is cancelled or released. It is called by the
    /// thread that reads, and must not read values itself.
    ///
    /// It tells which configuration a process used:
    ///
    ///     let observation = defaults.observeReads { read in
    ///         log("\(read.key) = \(read.value ?? "default") from \(read.origin?.description ?? "the program")")
    ///     }
    public func observeReads(_ report: @escaping @Sendable (SettingRead) -> Void) -> SettingsObservation {
        let number = reads.add(report)
        return SettingsObservation { [reads] in reads.remove(number) }
    }

    /// Returns a value with its secrets masked.
    func masked(_ value: PropertyList, under key: String, _ declaration: SettingDeclaration?) -> PropertyList {
        // A program's own schema can declare more than the installed one, also entries of a dictionary.
        let own = stack.masked(value, under: key)
        let (value, secrecy) = (declaration?.masked(own) ?? own, store.shared.schemas.secrecy(of: name))
        let components = path.appending(EntryPath.Component(key)).components
        let whole = components.dropFirst().reversed().reduce(value) { .dictionary([$1.text: $0]) }
        let masked = secrecy.masked(whole, under: components[0].text)
        return masked[EntryPath(Array(components.dropFirst()))] ?? masked
    }

    /// Reports that a setting was read.
    ///
    /// - Parameter origin: The origin of the value; nil for the setting's own default.
    func report<Value>(reading setting: Setting<Value>, _ value: Value, from origin: Origin?) {
        let stored = origin.flatMap { _ in (try? PropertyList.encoded(value)) ?? nil }
        report(
            reading: setting.key, stored, from: origin, stack.declaration(of: setting.key) ?? setting.declaration)
    }

    /// Reports that a value was read.
    func report(reading key: String, _ value: PropertyList?, from origin: Origin?, _ declaration: SettingDeclaration?) {
        let shown = value.map { masked($0, under: key, declaration) }
        reads.report(SettingRead(key: path.name(of: key), value: shown, origin: origin))
    }
}

/// The observers of reads.
final class ReadObservers: Sendable {
    private let observers = Mutex<[Int: @Sendable (SettingRead) -> Void]>([:])
    private let last = Atomic(0)
    private let count = Atomic(0)

    /// Whether there is an observer. Without one, a read costs no more than this.
    var isActive: Bool { count.load(ordering: .relaxed) > 0 }

    func add(_ observer: @escaping @Sendable (SettingRead) -> Void) -> Int {
        let number = last.add(1, ordering: .relaxed).newValue
        observers.withLock { $0[number] = observer }
        count.add(1, ordering: .releasing)
        return number
    }

    func remove(_ number: Int) {
        guard observers.withLock({ $0.removeValue(forKey: number) }) != nil else { return }
        count.subtract(1, ordering: .releasing)
    }

    func report(_ read: SettingRead) {
        for observer in observers.withLock({ Array($0.values) }) { observer(read) }
    }
}
