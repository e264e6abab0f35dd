import MirrorEngine

/// The long values of a simulated directory.
struct SimulatedBlobs {
    private(set) var all: [BlobName: Blob] = [:]
    private var inFolders: [WriterID: Set<BlobName>] = [:]
    private var needs: [PackAddress: [BlobReference]] = [:]

    /// Records the blobs to which a file refers, which are those that are missing when it is decoded without any.
    mutating func note(_ pack: EncodedPack, at address: PackAddress) {
        do throws(PackFault) { _ = try Pack(decoding: pack.bytes) } catch {
            if case .missingBlobs(let references) = error { needs[address] = references }
        }
    }

    func needs(_ address: PackAddress) -> [BlobReference] { needs[address] ?? [] }

    mutating func add(_ blob: Blob, of writer: WriterID) {
        all[blob.name] = blob
        inFolders[writer, default: []].insert(blob.name)
    }

    mutating func remove(_ name: BlobName, of writer: WriterID) { inFolders[writer]?.remove(name) }

    func isStanding(_ name: BlobName, of writer: WriterID) -> Bool { inFolders[writer]?.contains(name) ?? false }

    mutating func forget(_ writer: WriterID) { inFolders[writer] = nil }

    var standing: [(WriterID, BlobName)] {
        inFolders.sorted { $0.key < $1.key }.flatMap { writer, names in names.sorted().map { (writer, $0) } }
    }
}

extension World {
    func create(_ blob: Blob, of writer: WriterID, by creator: SimulatedHost) {
        blobs.add(blob, of: writer)
        creator.blobView[writer, default: []].insert(blob.name)
        for host in hosts where host !== creator { deliver(blob.name, of: writer, to: host) }
    }

    func deliver(_ name: BlobName, of writer: WriterID, to host: SimulatedHost) {
        schedule(in: delay()) { [self] in
            if blobs.isStanding(name, of: writer) { host.blobView[writer, default: []].insert(name) }
        }
    }

    func remove(_ name: BlobName, of writer: WriterID, by remover: SimulatedHost) {
        blobs.remove(name, of: writer)
        remover.blobView[writer]?.remove(name)
        for host in hosts where host !== remover {
            schedule(in: delay()) { [self] in
                if !blobs.isStanding(name, of: writer) { host.blobView[writer]?.remove(name) }
            }
        }
    }
}
