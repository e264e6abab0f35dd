internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

/// An open conflict of a mirror, as it is shown with its key.
struct ConflictAtKey {
    let place: Path
    let name: String
    let lost: WrittenValue
    let host: String
    let isOfOlder: Bool

    /// Whether the conflict is at, above or below an entry.
    func concerns(_ entry: EntryPath) -> Bool {
        zip(place.entry.components, entry.components).allSatisfy { $0.text == $1.text }
    }

    func text(_ masking: Masking) -> String {
        let value = MirrorValueText(masking: masking).text(lost.value, at: place).shown
        return "lost at \(place.entry.description.onOneLine): "
            + (isOfOlder ? "older values" : "\(value) of \(host.onOneLine)")
    }

    var advice: String { "`prefs mirror conflicts show \(name)`" }
}

extension StoreAccess {
    /// Returns the open conflicts of the mirrors of a domain of this host.
    func openConflicts(of domain: AddressedDomain) throws -> [ConflictAtKey] {
        guard let name = name(of: domain), places.user.arrangement == .own,
            let mirrors = try? MirrorPlaces(places, on: system)
        else { return [] }
        return mirrors.joined.filter { $0.configuration.selection.includes(name) }.flatMap { joined in
            let open = mirrors.conflicts(in: joined)
            let names = ConflictNames(open.map(\.name))
            return open.filter { $0.conflict.place.domain.hasSameBytes(as: name.text) }.map { item in
                ConflictAtKey(
                    place: item.conflict.place, name: names.short(item.name), lost: item.conflict.value,
                    host: item.host,
                    isOfOlder: item.conflict.isOfOlder)
            }
        }
    }

    /// Returns the open conflicts of a domain at the keys of a form, as lines of text.
    func openConflicts(of domain: AddressedDomain, at controls: [Form.Control]) throws -> [Name: [String]] {
        let (open, masking) = (try openConflicts(of: domain), masking(domain))
        return controls.reduce(into: [:]) { lines, control in
            let own = open.filter { control.setting.storedPaths.contains(where: $0.concerns) }
            guard !own.isEmpty else { return }
            // The schema of the form may not be the installed one.
            let masking = control.kind == .secret ? Masking { _ in true } : masking
            lines[Name(control.key)] = own.map { conflict in
                "Conflict \(conflict.name): \(conflict.text(masking).shown); \(conflict.advice)"
            }
        }
    }
}
