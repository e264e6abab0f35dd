// The files in our own folder, and which of them are superseded.
extension LocalState {
    mutating func apply(_ intent: PackIntent) {
        self.intent = intent
        if !Rule.clearsOutboxAfterCreation.isKept { clearOutbox(of: intent) }
    }

    mutating func markCreated(_ name: PackName, at now: Int64) {
        guard let intent, intent.pack.name == name else { return }
        self.intent = nil
        folder.created[name] = CreatedFile(size: intent.pack.bytes.count, last: intent.last)
        for reference in intent.references { folder.blobs[reference.name] = CreatedBlob(size: reference.size) }
        clearOutbox(of: intent)
        switch name.kind {
        case .log:
            folder.tip = intent.pack.hash
            folder.publishedKnowledge = intent.knowledge
            folder.logBytes += intent.pack.size
            folder.logCount += 1
        case .base: supersede(with: intent, at: now)
        case .note:
            (folder.noteNumber, folder.hasLeft) = (name.number, intent.isFarewell)
            folder.owesNote = false
            for (other, file) in folder.created where other.kind == .note && other != name && file.supersededAt == nil {
                folder.created[other]?.supersededAt = now
            }
        }
    }

    /// Removes the transactions that a file of ours contains from the outbox. For a note there are none.
    mutating func clearOutbox(of intent: PackIntent) { outbox.removeAll { $0.id.sequence <= intent.last } }

    private mutating func supersede(with intent: PackIntent, at now: Int64) {
        folder.baseSequence = intent.last
        folder.baseBytes = intent.pack.bytes.count
        (folder.logBytes, folder.logCount, folder.owesBase) = (0, 0, false)
        for (name, file) in folder.created where name != intent.pack.name && name.kind != .note {
            guard file.last <= intent.last, file.supersededAt == nil else { continue }
            folder.created[name]?.supersededAt = now
        }
        let needed = Set(intent.references.map(\.name))
        for (name, blob) in folder.blobs where blob.unneededSince == nil && !needed.contains(name) {
            folder.blobs[name]?.unneededSince = now
        }
    }

    /// The knowledge vector as published in our files, which excludes ourselves.
    var knowledgeOfOthers: VersionVector {
        var others = knowledge
        others[writer] = 0
        return others
    }
}
