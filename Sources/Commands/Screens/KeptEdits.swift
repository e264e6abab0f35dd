internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The unsaved changes of a form that a signal or a lost terminal has ended, in a private file in the folder of states.
/// They are offered when the form is opened again.
struct KeptEdits {
    private let system: SystemServices
    private let path: FilePath
    private let schema: Schema

    /// The time after which they are dropped.
    private static let longest = Duration.seconds(7 * 86_400)
    private static let mostBytes = 1 << 20

    /// - Returns: nil for a domain of another store, and if there is no folder of states.
    init?(of domain: AddressedDomain, _ schema: Schema, _ access: StoreAccess) {
        guard let name = domain.name, access.places.user.arrangement == .own, domain.host == nil,
            let folder = try? access.system.environment.folder(.state, in: access.system.fileSystem),
            let file = FileName(name.text + ".plist")
        else { return nil }
        (system, self.schema) = (access.system, schema)
        path = folder.resolving("prefs/unsaved").appending(file)
    }

    private enum Key {
        static let time = "time"
        static let values = "values"
        static let resets = "resets"
        /// The values that the changes replace.
        static let beneath = "beneath"
    }

    /// Stores the changes of a form, except those of sensitive settings.
    func keep(_ form: Form) {
        let isPublic = { (key: String) in
            form.control(key).map { $0.kind != .secret && !schema.isSensitive(EntryPath([EntryPath.Component(key)])) }
                ?? false
        }
        let values = form.changes.values.filter { isPublic($0.key) }
        let resets = form.changes.resets.filter(isPublic)
        guard !values.isEmpty || !resets.isEmpty else { return }
        var beneath = PropertyList.Dictionary()
        for key in values.map(\.key) + resets { beneath[key] = form.storedValue(of: key)?.value }
        let kept: PropertyList = [
            Key.time: .date(Date(timeIntervalSince1970: Double(system.clock.wall.nanoseconds) / 1e9)),
            Key.values: .dictionary(PropertyList.Dictionary(values.map { ($0.key, $0.value) })),
            Key.resets: .array(resets.map { .string($0) }), Key.beneath: .dictionary(beneath),
        ]
        guard let bytes = try? kept.serialized(as: .binary), bytes.count <= Self.mostBytes else { return }
        try? system.fileSystem.makeFolders(path.parent)
        try? system.fileSystem.replace(path, with: Array(bytes))
    }

    /// Returns the kept changes that are still valid and whose settings have not changed since, and their time. Drops
    /// the others.
    func offered(to form: Form) -> (changes: Form.Changes, time: Timestamp)? {
        guard let bytes = (try? system.fileSystem.contents(of: path, limit: Self.mostBytes)) ?? nil,
            let kept = try? PropertyList(parsing: bytes, as: .binary), let date = kept[Key.time]?.dateValue
        else { return nil }
        let time = Timestamp(date)
        let now = system.clock.wall
        guard time <= now, time.advanced(by: Self.longest) >= now else {
            forget()
            return nil
        }
        var copy = form
        let beneath = kept[Key.beneath]?.dictionaryValue ?? [:]
        func isUnchanged(_ key: String) -> Bool {
            form.control(key) != nil && form.storedValue(of: key)?.value == beneath[key]
        }
        for entry in kept[Key.values]?.dictionaryValue ?? [:] where isUnchanged(entry.key) {
            _ = copy.set(entry.value, for: entry.key)
        }
        for key in (kept[Key.resets]?.arrayValue ?? []).compactMap(\.stringValue) where isUnchanged(key) {
            _ = copy.reset(key)
        }
        guard !copy.changes.isEmpty else {
            forget()
            return nil
        }
        return (copy.changes, time)
    }

    func forget() { _ = try? system.fileSystem.remove(path) }
}
