extension LocalRecord: JournalCodable {
    /// The kind of a record, in the first byte of its body.
    private enum Kind: UInt8, JournalCodable {
        case captured = 1
        case joined, intended, created, removed, tookNewNumber, intendedApplication, applied, abandonedApplication
        case vanished, returned, forgot, carries, lostFiles, configured, resolvedConflict, retired, rebuilt
        case restored, participation, removedBlobs, resolvedConflicts, marked, foundMark, suspected
        case forgotWriters
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .captured(let capture): bytes.write(Kind.captured, capture)
        case .joined(let pack, let now): bytes.write(Kind.joined, pack, now)
        case .intended(let intent): bytes.write(Kind.intended, intent)
        case .created(let name, let now): bytes.write(Kind.created, name, now)
        case .removed(let names): bytes.write(Kind.removed, names)
        case .tookNewNumber(let writer, let isInView): bytes.write(Kind.tookNewNumber, writer, isInView)
        case .intendedApplication(let application): bytes.write(Kind.intendedApplication, application)
        case .applied(let domains): bytes.write(Kind.applied, domains)
        case .abandonedApplication: bytes.write(Kind.abandonedApplication)
        default: writeRare(to: &bytes)
        }
    }

    private func writeRare(to bytes: inout [UInt8]) {
        switch self {
        case .vanished(let writer, let now): bytes.write(Kind.vanished, writer, now)
        case .returned(let writer): bytes.write(Kind.returned, writer)
        case .forgot(let writer, let hashes): bytes.write(Kind.forgot, writer, hashes)
        case .forgotWriters(let writers): bytes.write(Kind.forgotWriters, writers)
        case .carries(let writer): bytes.write(Kind.carries, writer)
        case .lostFiles(let now): bytes.write(Kind.lostFiles, now)
        case .configured(let domain, let isMirrored): bytes.write(Kind.configured, domain, isMirrored)
        case .resolvedTransaction(let loser, let now): bytes.write(Kind.resolvedConflict, loser, now)
        case .resolvedConflicts(let ids, let now): bytes.write(Kind.resolvedConflicts, ids, now)
        case .marked(let mark): bytes.write(Kind.marked, WriteID(number: mark))
        case .foundMark: bytes.write(Kind.foundMark)
        case .suspected(let suspicion): bytes.write(Kind.suspected, suspicion)
        case .retired(let writer): bytes.write(Kind.retired, writer)
        case .rebuilt(let packs): bytes.write(Kind.rebuilt, packs)
        case .restored(let restoration): bytes.write(Kind.restored, restoration)
        case .participation(let participation): bytes.write(Kind.participation, participation)
        case .removedBlobs(let names): bytes.write(Kind.removedBlobs, names)
        default: break
        }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        switch try reader.read(Kind.self) {
        case .captured: self = .captured(try reader.read())
        case .joined: self = .joined(try reader.read(), at: try reader.read())
        case .intended: self = .intended(try reader.read())
        case .created: self = .created(try reader.read(), at: try reader.read())
        case .removed: self = .removed(try reader.read())
        case .tookNewNumber: self = .tookNewNumber(try reader.read(), intentIsInView: try reader.read())
        case .intendedApplication: self = .intendedApplication(try reader.read())
        case .applied: self = .applied(try reader.read())
        case .abandonedApplication: self = .abandonedApplication
        case .vanished: self = .vanished(try reader.read(), at: try reader.read())
        case .returned: self = .returned(try reader.read())
        case .forgot: self = .forgot(try reader.read(), try reader.read())
        case .forgotWriters: self = .forgotWriters(try reader.read())
        case .carries: self = .carries(try reader.read())
        case .lostFiles: self = .lostFiles(at: try reader.read())
        case .configured: self = .configured(domain: try reader.read(), isMirrored: try reader.read())
        case .resolvedConflict: self = .resolvedTransaction(try reader.read(), at: try reader.read())
        case .resolvedConflicts: self = .resolvedConflicts(try reader.read(), at: try reader.read())
        case .marked: self = .marked(try reader.read(WriteID.self).number)
        case .foundMark: self = .foundMark
        case .suspected: self = .suspected(try reader.read())
        case .retired: self = .retired(try reader.read())
        case .rebuilt: self = .rebuilt(try reader.read())
        case .restored: self = .restored(try reader.read())
        case .participation: self = .participation(try reader.read())
        case .removedBlobs: self = .removedBlobs(try reader.read())
        }
    }
}
