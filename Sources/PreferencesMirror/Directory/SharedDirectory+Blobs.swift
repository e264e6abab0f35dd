internal import MirrorEngine
internal import Platform

// Values that are too long for a log or a base.
extension SharedDirectory {
    func place(of blob: BlobName, of writer: WriterID) -> FilePath {
        folder(of: writer).resolving(FilePath(blob.description) ?? ".")
    }

    /// Decodes a file of the mirror, with the blobs to which it refers.
    func pack(_ bytes: [UInt8], at address: PackAddress, of mirror: MirrorID) throws(PackFault) -> Pack {
        do throws(PackFault) {
            return try Pack(decoding: bytes, at: address, of: mirror)
        } catch {
            guard case .missingBlobs(let references) = error else { throw error }
            let blobs = blobs(references, nextTo: address.writer)
            return try Pack(decoding: bytes, at: address, of: mirror, blobs: blobs)
        }
    }

    /// Returns the blobs that exist and are valid, in their writer's folder or in another's.
    private func blobs(_ references: [BlobReference], nextTo writer: WriterID) -> [BlobName: Blob] {
        var found: [BlobName: Blob] = [:]
        for reference in references { found[reference.name] = blob(reference, in: writer) }
        let missing = references.filter { found[$0.name] == nil }
        guard !missing.isEmpty else { return found }
        let others = (((try? files.names(in: writers)) ?? nil) ?? []).compactMap { WriterID($0.description) }
        for reference in missing {
            found[reference.name] = others.lazy.compactMap { blob(reference, in: $0) }.first
        }
        return found
    }

    private func blob(_ reference: BlobReference, in writer: WriterID) -> Blob? {
        let place = place(of: reference.name, of: writer)
        guard ((try? files.status(of: place, followingLink: false)) ?? nil)?.kind == .file,
            let bytes = (try? contents(of: place, limit: reference.size)) ?? nil
        else { return nil }
        return try? Blob(decoding: bytes, as: reference)
    }

    /// Returns the sizes of the blobs in a folder, by their names inside that folder.
    func blobSizes(in folder: FilePath) throws(SystemFailure) -> [String: Int] {
        var sizes: [String: Int] = [:]
        let root = folder.appending("x")
        guard try isFolder(root) else { return [:] }
        for part in try files.names(in: root) ?? [] where part.description.utf8.count == 2 {
            let subfolder = root.appending(part)
            guard try isFolder(subfolder) else { continue }
            for name in try files.names(in: subfolder) ?? [] {
                let text = "x/\(part)/\(name)"
                sizes[text] = BlobName(text) == nil ? 0 : try size(of: subfolder.appending(name))
            }
        }
        return sizes
    }
}
