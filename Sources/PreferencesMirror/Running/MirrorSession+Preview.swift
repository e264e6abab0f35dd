package import MirrorEngine
internal import Preferences
internal import PropertyLists

/// The effects of mirroring more domains, on values that differ between this host and the mirror.
package struct SelectionPreview: Sendable {
    /// The domains that would be mirrored.
    package fileprivate(set) var domains: [String] = []
    package fileprivate(set) var differing: [Key] = []
    /// The number of files of other hosts that were not joined yet.
    package fileprivate(set) var unread = 0
    /// Descriptions of failures.
    package fileprivate(set) var troubles: [String] = []
    /// Whether a file could not be compared because it may still be written.
    package fileprivate(set) var isUnfinished = false

    /// A key whose value would be replaced, in the file of this host or in the mirror.
    package struct Key: Hashable, Sendable {
        package let path: Path
        package let here: CanonicalValue?
        package let mirror: CanonicalValue?
        /// Whether the value of this host would be used.
        package let isKept: Bool
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
        schemas.reload()
        (configuration.selection, configuration.isSeeded) = (selection, false)
        findLeftOut()
        let former = mergeState
        let new = Set(selectedDomains.map { Name($0) }).subtracting(domains.map { Name($0) }).sorted().map(\.text)
        for domain in new { _ = engine.handle(.command(.add(domain: domain)), at: moment) }
        var rest = Set(new.map { Path(domain: $0) })
        while !rest.isEmpty {
            let (event, others) = readFirst(of: rest)
            if let event { _ = engine.handle(event, at: moment) }
            rest = others
        }
        var preview = SelectionPreview(domains: new, troubles: troubles, isUnfinished: hasUnfinished)
        preview.unread =
            (try? directory.listing(own: writer, chosen: chosenID)).map { engine.status.unjoinedFiles(in: $0).count }
            ?? 0
        let status = engine.status
        let mergeState = status.mergeState
        for domain in new {
            let exceptions = status.trackedFile(of: Path(domain: domain))?.exceptions ?? [:]
            let replaced = exceptions.filter { $0.value.reason == .pending && $0.value.value != nil }.keys
            let written = status.outbox.flatMap(\.changes).map { $0.path.prefix(components: 2) }.filter {
                $0.domain.hasSameBytes(as: domain) && former.value(at: $0) != nil
                    && former.value(at: $0) != mergeState.value(at: $0)
            }
            for key in Set(replaced).union(written).sorted() {
                let here = exceptions[key]
                preview.differing.append(
                    SelectionPreview.Key(
                        path: key, here: here == nil ? mergeState.value(at: key) : here?.value,
                        mirror: former.value(at: key), isKept: here == nil))
            }
        }
        return preview
    }
}
