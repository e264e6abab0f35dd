package import MirrorEngine
internal import Preferences
internal import PropertyLists

/// The effects of mirroring more domains or keys, on values that differ between this host and the mirror.
package struct SelectionPreview: Sendable {
    /// The domains that would be mirrored.
    package fileprivate(set) var domains: [String] = []
    /// The keys that would be mirrored of files that are mirrored already.
    package fileprivate(set) var keys: [Path] = []
    package fileprivate(set) var differing: [Key] = []
    /// The number of files of other hosts that were not joined yet.
    package fileprivate(set) var unread = 0
    /// Descriptions of failures.
    package fileprivate(set) var troubles: [String] = []
    /// Whether a file could not be compared because it may still be written.
    package fileprivate(set) var isUnfinished = false

    /// A key that has different values in the file of this host and in the mirror.
    package struct Key: Hashable, Sendable {
        package let path: Path
        package let here: CanonicalValue?
        package let mirror: CanonicalValue?
        package let outcome: Outcome

        package enum Outcome: Sendable {
            /// The mirror's value would be used, or its deletion.
            case replaced
            /// The value of this host would be used.
            case kept
            /// One of both would be used, and the other would be listed.
            case conflict
            /// Both would be combined by the rule of the key.
            case combined
        }
    }
}

extension MirrorSession {
    /// Returns the effects of a selection. A copy of the engine captures the files. No setting is changed; long
    /// values may be kept early.
    package func preview(of selection: DomainSelection) throws(MirrorFailure) -> SelectionPreview {
        var trial = self
        try trial.begin()
        defer { trial.end() }
        return trial.takePreview(of: selection)
    }

    private mutating func takePreview(of selection: DomainSelection) -> SelectionPreview {
        let former = mergeState
        (configuration.selection, configuration.isSeeded) = (selection, false)
        goOn()
        findLeftOut()
        let new = Set(selectedDomains.map { Name($0) }).subtracting(domains.map { Name($0) }).sorted().map(\.text)
        let keys = domains.flatMap { engine.keysToMirror(of: Path(domain: $0)) }.sorted()
        for domain in new { _ = engine.handle(.command(.add(domain: domain)), at: moment) }
        let read = Set((new + keys.map(\.domain)).map { Path(domain: $0) })
        var rest = read
        while !rest.isEmpty {
            let (event, others) = readFirst(of: rest)
            if let event { _ = engine.handle(event, at: moment) }
            rest = others
        }
        var preview = SelectionPreview(domains: new, keys: keys, troubles: troubles, isUnfinished: hasUnfinished)
        preview.unread =
            (try? directory.listing(own: writer, chosen: chosenID)).map { screened($0) }.map {
                engine.status.unjoinedFiles(in: $0).count
            }
            ?? 0
        let status = engine.status
        let mergeState = status.mergeState
        for path in read.sorted() {
            let exceptions = status.trackedFile(of: path)?.exceptions ?? [:]
            let replaced = exceptions.filter { $0.value.reason == .pending && $0.value.value != nil }.keys
            let written = status.outbox.flatMap(\.changes).map { $0.path.prefix(components: 2) }.filter {
                $0.domain.hasSameBytes(as: path.domain) && former.value(at: $0) != nil
                    && former.value(at: $0) != mergeState.value(at: $0)
            }
            for key in Set(replaced).union(written).sorted()
            where new.contains(exactly: path.domain) || keys.contains(key) {
                let here = exceptions[key]
                let isConflict = !mergeState.conflicts(under: key).isEmpty
                let isCombined = here != nil && mergeState.value(at: key) != former.value(at: key)
                preview.differing.append(
                    SelectionPreview.Key(
                        path: key, here: here == nil ? mergeState.value(at: key) : here?.value,
                        mirror: former.value(at: key),
                        outcome: isConflict ? .conflict : isCombined ? .combined : here == nil ? .kept : .replaced))
            }
        }
        return preview
    }
}
