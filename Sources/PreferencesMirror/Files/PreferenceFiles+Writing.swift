internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

// From the state to the preference files.
extension PreferenceFiles {
    /// Makes all changes in one transaction, each file only if it is still as it was read. Also returns a note for each
    /// file that was converted.
    func write(
        _ application: Application, under locks: LockedDomains, read readings: [String: Reading]
    ) throws -> (WriteOutcome, notes: [String]) {
        var edits: [DomainEdit] = []
        for change in application.domains {
            guard let file = file(of: change.domain.domain) else {
                return (.failed(domain: change.domain.domain), [])
            }
            let reading = readings[change.domain.domain]
            var edit = edit(file, change, reading?.status, application.isChecked)
            // A user has decided in favour of the mirror. A copy of the damaged file is kept beside the new one.
            edit.acceptsLoss = reading?.isDamaged ?? false
            edits.append(edit)
        }
        do {
            let written = try locks.commit(edits)
            let outcome = WriteOutcome.done(zip(application.domains, written).map { observation($0, $1, readings) })
            return (outcome, written.compactMap(\.conversion))
        } catch let failure as StoreFailure {
            if case .notCurrent = failure.problem { return (.changedMeanwhile, []) }
            throw failure
        }
    }

    private func edit(
        _ file: DomainFile, _ change: DomainChange, _ status: FileStatus?, _ isChecked: Bool
    ) -> DomainEdit {
        var edit = DomainEdit(file, known: DomainContents(values: [:], status: status)) { draft in
            var values = draft.values
            for (path, replacement) in change.changes {
                guard let key = path.key else { continue }
                values[key] = replacement.new?.propertyList
            }
            if !file.canHold(values, draft.format) {
                // Convert the file to binary, because no text format can hold the values exactly.
                draft.format = .binary
                if !file.canHold(values, .binary) { values = file.values(draft, changedBy: change) }
            }
            draft.values = values
        }
        edit.requiresKnown = isChecked
        return edit
    }

    private func observation(
        _ change: DomainChange, _ committed: CommittedDomain, _ readings: [String: Reading]
    ) -> Observation {
        let domain = change.domain.domain
        guard let bytes = committed.bytes, let status = committed.after.status else {
            // Nothing was changed.
            return readings[domain]?.observation
                ?? Observation(domain: domain, identity: nil, hash: nil, content: .missing, modified: 0)
        }
        // The values as they are read back. If they equal those written, the existing copy is used.
        let read = try? committed.file.parse(bytes).0
        let values = read.flatMap { $0 == committed.after.values ? nil : $0 } ?? committed.after.values
        return Observation(
            domain: domain, identity: MirrorEngine.FileIdentity(status), hash: Fingerprint(of: bytes),
            content: .values(values), modified: status.modified.milliseconds, mark: .write)
    }
}

extension CommittedDomain {
    /// The note that the file was converted to binary, which holds values that its former format cannot.
    fileprivate var conversion: String? {
        guard let former = before.format, let format = after.format, former != format else { return nil }
        return "\(file.path): converted from \(former.rawValue) to \(format.rawValue), "
            + "to hold a value of another host"
    }
}

extension DomainFile {
    fileprivate func canHold(_ values: PropertyList.Dictionary, _ format: PropertyList.Format) -> Bool {
        guard values.keys.allSatisfy(\.isFitForWriting), let bytes = try? serialized(values, as: format) else {
            return false
        }
        return format == .binary || (try? parse(bytes).0) == values
    }

    /// Returns the values with every change that the format can hold. The mirror records those that it cannot.
    fileprivate func values(_ draft: DomainDraft, changedBy change: DomainChange) -> PropertyList.Dictionary {
        var values = draft.values
        for (path, replacement) in change.changes {
            guard let key = path.key else { continue }
            guard let new = replacement.new?.propertyList else {
                values[key] = nil
                continue
            }
            if canHold([key: new], draft.format) { values[key] = new }
        }
        return values
    }
}
