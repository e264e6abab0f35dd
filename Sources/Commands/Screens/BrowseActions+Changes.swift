internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import Screens
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Changing entries: by a key, by undo and redo, by a version, and by deciding a conflict.
extension BrowseActions {
    /// Makes a change in one transaction, unless its keys were changed since they were shown.
    mutating func make(
        _ change: Change, _ reason: WriteReason? = nil, saying text: String? = nil
    ) throws -> [Event] {
        let (opened, _) = try current()
        let domain = opened.domain
        for path in change.paths { _ = try KeyArgument(forWriting: KeyArgument(path).spelling) }
        let keys = Set(change.paths.compactMap(\.components.first))
        try access.checkNotForced(keys.map(\.text), in: domain)
        for key in keys { try checkNotOverridden(key.text) }
        try checkSecrets(change)
        let values = opened.values
        let isOverridden = change.origin.components.first.flatMap { opened.layer(overriding: $0.text) } != nil
        // Reads integers as the draft below has them, unless the file was changed.
        let isCurrent = try generations(of: domain) == opened.generations
        let own = try isCurrent ? domain.file.contents(on: access.system).values : opened.own
        let step: @Sendable (PropertyList) -> EntryStep? = { _ in change.step }
        let outcome = try access.change(domain, reason ?? change.reason, isForced: false, by: step) { root in
            for key in keys where root[EntryPath([key])] != own[key.text] {
                throw CommandFailure(
                    .different, "\(key.text.onOneLine) was changed by another process meanwhile; nothing was changed")
            }
            try change.make(in: &root, over: values, isOverridden: isOverridden, domain)
        }
        let isChanged = outcome?.isChanged ?? false
        if let outcome, isChanged {
            undone = []
            made.append(
                MadeChange(
                    domain: domain, place: change.origin,
                    keys: keys.map { ($0.text, outcome.before.values[$0.text], outcome.after.values[$0.text]) }))
        }
        let note = errors.takeLines().last.map { "  " + $0.onOneLine } ?? ""
        let description = isChanged ? text ?? change.description : "Nothing was changed."
        return try reopened(domain) + [.done(description + note, at: change.place)]
    }

    /// Throws if a change of a key would have no effect, because a layer of higher priority has a value.
    private func checkNotOverridden(_ key: String) throws {
        let (opened, _) = try current()
        guard let layer = opened.layer(overriding: key) else { return }
        let writable = layer == .globalHost ? .userHost : layer
        let option = Layer.writable.contains(writable) ? "; --layer \(writable) changes it" : ""
        throw CommandFailure(
            .different, "the value of \(key.onOneLine) comes from layer \(layer)\(option); nothing was changed")
    }

    /// Throws if a secret would be shown under its new key.
    private func checkSecrets(_ change: Change) throws {
        let (opened, root) = try current()
        switch change {
        case .rename(let old, let new), .copy(let old, let new):
            guard let value = root[old], opened.masking.exposes(value, at: old, movedTo: new, opened.masking) else {
                return
            }
            throw try access.exposed(KeyArgument(old), in: opened.domain, by: KeyArgument(new))
        case .set, .move, .delete: return
        }
    }

    /// Undoes the last change made here, or makes the change again that was undone last.
    mutating func undo(again: Bool) throws -> [Event] {
        guard let last = again ? undone.popLast() : made.popLast() else {
            throw CommandFailure(
                .notFound,
                again
                    ? "nothing can be redone here"
                    : "no change was made here that can be undone; prefs undo undoes earlier changes")
        }
        // A change that another process has made obsolete is dropped, and the next undo undoes the one before it.
        do {
            try access.checkNotForced(last.keys.map(\.key), in: last.domain)
            let history = History(of: last.domain.file, on: access.system)
            let edit = try access.edit(last.domain, isForced: false) { draft in
                for (key, before, after) in last.keys {
                    guard draft.values[key] == (again ? before : after) else {
                        throw CommandFailure(
                            .different,
                            "\(key.onOneLine) was changed by another process meanwhile; nothing was changed")
                    }
                    draft.values[key] = again ? after : before
                }
                history?.restoreText(of: &draft)
            }
            try access.commit([edit], again ? .write : WriteReason(rawValue: "undo"))
        } catch {
            if (error as? CommandFailure)?.status != .different { again ? undone.append(last) : made.append(last) }
            throw error
        }
        if again { made.append(last) } else { undone.append(last) }
        let names = last.keys.map(\.key.onOneLine).joined(separator: ", ")
        return try reopened(last.domain) + [.done("\(again ? "Redone" : "Undone"): \(names)", at: last.place)]
    }

    /// The changes made here, as lines.
    func differences() -> [String] {
        made.flatMap { change in
            let values = { (values: [(String, PropertyList?)]) in
                values.reduce(into: PropertyList.Dictionary()) { $0[$1.0] = $1.1 }
            }
            let differences = Differences(
                from: values(change.keys.map { ($0.key, $0.before) }),
                to: values(change.keys.map { ($0.key, $0.after) }))
            return differences.lines(of: change.domain.word, masking: access.masking(change.domain)).map(\.plain)
        }
    }

    /// Gives the domain the values that it has in a version.
    mutating func restoreAll(_ number: Int) throws -> [Event] {
        let (opened, _) = try current()
        let domain = opened.domain
        let state = try access.state(ofVersion: number, of: domain, isWriting: true)
        let word = domain.word.onOneLine
        // Reads integers as the draft below has them, unless the file was changed.
        let isCurrent = try generations(of: domain) == opened.generations
        let own = try isCurrent ? domain.file.contents(on: access.system).values : opened.own
        let names = Set(own.keys.map { Name($0) } + state.values.keys.map { Name($0) })
        let keys = names.map(\.text).filter { own[$0] != state.values[$0] }
            .map { (key: $0, before: own[$0], after: state.values[$0]) }
        guard !keys.isEmpty else { return [.done("These are the present values.", at: EntryPath())] }
        try access.checkNotForced(keys.map(\.key), in: domain)
        let history = History(of: domain.file, on: access.system)
        let edit = try access.edit(domain, isForced: false) { draft in
            guard draft.values == own else {
                throw CommandFailure(
                    .different, "\(word) was changed by another process meanwhile; nothing was changed")
            }
            draft.values = state.values
            history?.restoreText(of: &draft)
        }
        try access.commit([edit], .restore)
        let place = keys.map(\.key).min().map { EntryPath([EntryPath.Component($0)]) } ?? EntryPath()
        (made, undone) = (made + [MadeChange(domain: domain, place: place, keys: keys)], [])
        return try reopened(domain) + [
            .done("Restored \(counted(keys.count, "key")) of \(word). u undoes this.", at: place)
        ]
    }

    /// Gives an entry the value that it has in a version.
    mutating func restore(_ path: EntryPath, _ number: Int) throws -> [Event] {
        let (opened, _) = try current()
        let state = try access.state(ofVersion: number, of: opened.domain, isWriting: true)
        let change = PropertyList.dictionary(state.values)[path].map { Change.set(path, $0) } ?? .delete(path)
        return try make(change, .restore, saying: "Restored \(BrowseScreen.name(of: path).onOneLine). u undoes this.")
    }
}

extension History {
    /// Gives a draft the order, comments and format of the last version with the same values.
    fileprivate func restoreText(of draft: inout DomainDraft) {
        for version in versions.reversed() {
            guard let state = state(of: version), state.values == draft.values, let form = state.form else {
                continue
            }
            (draft.form, draft.restoredBytes) = (form, state.bytes)
            return
        }
    }
}

extension BrowseScreen.Change {
    fileprivate var paths: [EntryPath] {
        switch self {
        case .set(let path, _), .delete(let path): [path]
        case .rename(let old, let new), .move(let old, let new): [old, new]
        case .copy(_, let new): [new]
        }
    }

    /// The entry to select afterwards.
    fileprivate var place: EntryPath {
        switch self {
        case .set(let path, _), .delete(let path), .rename(_, let path), .copy(_, let path), .move(_, let path): path
        }
    }

    /// The entry to select after an undo.
    fileprivate var origin: EntryPath {
        switch self {
        case .set(let path, _), .delete(let path), .rename(let path, _), .copy(let path, _), .move(let path, _): path
        }
    }

    fileprivate var reason: WriteReason {
        switch self {
        case .set, .move: .write
        case .rename: WriteReason(rawValue: "rename")
        case .copy: WriteReason(rawValue: "copy")
        case .delete: .delete
        }
    }

    fileprivate var description: String {
        let name = { (path: EntryPath) in BrowseScreen.name(of: path).onOneLine }
        switch self {
        case .set(let path, _): return "Saved \(name(path)). u undoes this."
        case .rename(let old, let new): return "Renamed \(name(old)) to \(name(new)). u undoes this."
        case .copy(let old, let new): return "Copied \(name(old)) to \(name(new)). u undoes this."
        case .move(let old, let new): return "Moved \(name(old)) to \(name(new)). u undoes this."
        case .delete(let path): return "Deleted \(name(path)). u undoes this."
        }
    }

    /// Makes the change in the values of a layer.
    ///
    /// - Parameters:
    ///   - shown: The values in force, from which an entry is changed whose key the layer does not have.
    ///   - isOverridden: Whether the layer's value of the entry is not the one in force.
    fileprivate func make(
        in root: inout PropertyList, over shown: PropertyList.Dictionary, isOverridden: Bool, _ domain: AddressedDomain
    ) throws {
        func adopt(_ path: EntryPath) throws {
            guard path.components.count > 1, let key = path.components.first, root[[key]] == nil,
                let value = shown[key.text]
            else { return }
            try root.set(value, at: [key])
        }
        func stored(_ path: EntryPath) throws -> PropertyList {
            try adopt(path)
            if let value = root[path] { return value }
            let key = try KeyArgument(path)
            guard PropertyList.dictionary(shown)[path] != nil else { throw CommandFailure.noPair(domain, key) }
            throw CommandFailure(
                .notFound,
                "\(key.spelling.onOneLine) has no value in layer \(domain.layer); its value comes from another layer")
        }
        switch self {
        case .set(let path, let value):
            try adopt(path)
            try root.checkEmptyKeys(of: path)
            try root.set(value, at: path)
        case .rename(let old, let new): try root.move(stored(old), from: old, to: new)
        case .move(let old, let new):
            let (value, other) = try (stored(old), stored(new))
            try root.set(other, at: old)
            try root.set(value, at: new)
        case .copy(let old, let new):
            let own = isOverridden ? nil : root[old]
            guard let value = own ?? PropertyList.dictionary(shown)[old] else {
                throw try CommandFailure.noPair(domain, KeyArgument(old))
            }
            try adopt(new)
            try root.set(value, at: new)
        case .delete(let path):
            _ = try stored(path)
            try root.remove(at: path)
        }
    }

    /// What the change does to an entry of a text, or nil if the values show it.
    fileprivate var step: EntryStep? {
        switch self {
        case .rename(let old, let new): .move(old, to: new)
        case .move(let old, let new):
            old.components.last?.index ?? 0 < new.components.last?.index ?? 0
                ? .exchange(old, new) : .exchange(new, old)
        case .delete(let path): .removal(path)
        case .set, .copy: nil
        }
    }
}

// MARK: Conflicts

extension BrowseActions {
    /// Returns the open conflicts of mirrors at an entry, or else at one place above or below it.
    func openConflicts(at path: EntryPath) throws -> (MirrorAccess, [ListedConflict]) {
        let (opened, mirrors) = (try current().opened, try MirrorAccess(invocation, captured))
        let name = opened.domain.name?.text ?? opened.domain.word
        let root = PropertyList.dictionary(opened.values)
        let all = try mirrors.all().flatMap { session in
            var session = session
            try session.read()
            return session.openConflicts.map { ListedConflict($0, session) }.filter { conflict in
                conflict.place.domain.hasSameBytes(as: name)
                    && zip(conflict.place.entry.components, path.components).allSatisfy { $0.text == $1.text }
            }
        }
        func depth(_ conflict: ListedConflict) -> Int { conflict.place.entry.components.count }
        let count = path.components.count
        // What is inside an entry is decided here only if it has no row.
        let place =
            (all.first { depth($0) == count } ?? all.first { depth($0) < count }
            ?? all.first { depth($0) > count && root[$0.place.entry] == nil })?.place
        return (mirrors, all.filter { $0.place == place })
    }

    /// Keeps a value of an entry on all hosts: accepts the one in force, or restores a lost one, and accepts that the
    /// others lost.
    mutating func decide(_ path: EntryPath, _ names: [String], restored: String?) throws -> [Event] {
        let (mirrors, found) = try openConflicts(at: path)
        guard Set(found.map(\.name)) == Set(names) else {
            throw CommandFailure(.different, "the conflicts have changed meanwhile; nothing was changed")
        }
        for var session in try mirrors.all() {
            try session.read()
            let own = found.filter { $0.session.id == session.id }
            guard !own.isEmpty else { continue }
            if let lost = own.first(where: { $0.name == restored }) {
                try ConflictResolution(of: lost, mirrors).carryOut(.restore, in: &session)
            }
            let others = own.filter { $0.name != restored }.compactMap(\.open)
            if !others.isEmpty { try session.carryOut(.accept(others)) { mirrors.wait($0) } }
            // The decision is made, and is published later if it cannot be now.
            try? mirrors.sync(&session)
        }
        errors.takeLines()
        let verb = restored == nil ? "Kept the value in force of" : "Restored the lost value of"
        return try reopened(current().opened.domain)
            + [.done("\(verb) \(BrowseScreen.name(of: path).onOneLine).", at: path)]
    }
}
