internal import MirrorEngine
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

/// The resolution of a conflict on this host. It is refused if the value in force has changed since it was prepared.
struct ConflictResolution {
    private let conflict: ListedConflict
    private let access: MirrorAccess
    private let isForced: Bool
    private let domain: AddressedDomain
    private let key: String
    private let lost: PropertyList?
    /// The value in the file, and the one in force in the mirror.
    private let former: PropertyList?
    private let inForce: CanonicalValue?

    enum Outcome: Hashable, Sendable {
        /// The value in force stays.
        case accept
        /// The lost value is written again; a lost deletion deletes.
        case restore
        /// Another value is written.
        case value(PropertyList)
    }

    /// Prepares the resolution of a conflict. Throws if its values are unknown, or if this host does not mirror it.
    init(of conflict: ListedConflict, _ access: MirrorAccess, isForced: Bool = false) throws {
        (self.conflict, self.access, self.isForced) = (conflict, access, isForced)
        let place = conflict.place
        guard !conflict.isOfOlder, let key = place.key else {
            let name = ConflictNames(of: [conflict.session]).short(conflict.name)
            throw MirrorFailure(.refused("\(name): the older values were not kept; accept it"))
        }
        guard place.hasOnlyKeys else {
            let name = ConflictNames(of: [conflict.session]).short(conflict.name)
            throw MirrorFailure(
                .refused("\(name): it is a part of a value that is merged; accept it, or write the value"))
        }
        guard conflict.session.isMirrored(place) else {
            let name = place.domain.onOneLine
            throw MirrorFailure(.refused("\(name): not mirrored on this host; restore it on a host that mirrors it"))
        }
        self.key = key
        domain = try access.stored.domain(DomainName(place.domain))
        former = try access.stored.value(KeyArgument(place.entry), in: domain)
        inForce = conflict.session.mergeState.value(at: place)
        lost = try conflict.value.value?.decoded()
    }

    /// Whether the file of this host shows the value in force.
    var isShown: Bool {
        let inForce = try? inForce?.decoded()
        // The file can have a set in another order.
        return former == inForce || former.map { $0.asSet ?? $0 } == inForce.map { $0.asSet ?? $0 }
    }

    /// Whether the lost value or the one in force is sensitive.
    func touchesSecrets(_ masking: Masking) -> Bool {
        let entry = conflict.place.entry
        return masking.hides(entry)
            || [lost, former].contains { $0.map { masking.touches($0, at: entry) } ?? false }
    }

    /// Resolves the conflict, as any program would that writes the file. Nothing is exchanged before, because the
    /// user has not seen what an exchange would bring.
    func carryOut(_ outcome: Outcome, in session: inout MirrorSession) throws {
        let (place, values) = (conflict.place, MirrorValueText(masking: try access.masking(conflict.place.domain)))
        try session.begin()
        defer { session.end() }
        if let held = session.holdReason(of: place.prefix(components: 1)) {
            let name = place.domain.onOneLine
            throw MirrorFailure(.refused("\(name): held, \(held.phrase); `prefs mirror status` shows what to do"))
        }
        let present = session.mergeState.value(at: place)
        guard isForced || present == inForce && !session.fileLags(at: place.prefix(components: 2)) else {
            let text = values.text(present, at: place).shown
            throw CommandFailure(
                .conflicts,
                "\(place.place): the mirror has a value that the file here does not show yet: \(text); "
                    + StoreFailure.unchanged(true))
        }
        switch outcome {
        case .accept: break
        case .restore: try write(lost, .restore, values)
        case .value(let value): try write(value, .write, values)
        }
        // A lost value that was written again is no longer lost.
        guard outcome != .restore, let open = conflict.open else { return }
        try session.send(.command(.accept([open])))
    }

    /// Writes a value into the file, unless it has changed.
    private func write(_ value: PropertyList?, _ reason: WriteReason, _ values: MirrorValueText) throws {
        let (place, entry, former, isForced) = (conflict.place, conflict.place.entry, former, isForced)
        let edit = try access.stored.edit(domain, isForced: isForced) { draft in
            var draftValues = PropertyList.dictionary(draft.values)
            let present = draftValues[entry]
            guard isForced || present == former else {
                let text = values.text(present.flatMap { try? CanonicalValue($0) }, at: place).shown
                throw CommandFailure(
                    .conflicts,
                    "\(place.place): the value has changed since this command began: \(text); "
                        + StoreFailure.unchanged(true))
            }
            draftValues[entry] = value
            guard draftValues[entry] == value else {
                throw CommandFailure(
                    .different, "\(place.place): the value that contained it has changed; nothing was changed")
            }
            draft.values = draftValues.dictionaryValue ?? draft.values
        }
        if !isForced { try access.stored.checkNotForced([key], in: domain) }
        try access.stored.commit([edit], reason)
    }
}
