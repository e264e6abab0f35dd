package import MirrorEngine
internal import Platform

// Reading all files of the mirror.
extension MirrorSession {
    /// The reason the directory cannot be used, or nil if it can.
    package var obstacle: SharedDirectory.Obstacle? { directory.obstacle(to: id, isChosen: configuration.isChosen) }

    /// Returns all valid files in view.
    func packsInView(_ progress: (Int, Int) -> Void) throws(MirrorFailure) -> [Pack] {
        let addresses = try listingOfAll().packs
        return addresses.enumerated().compactMap { index, address in
            progress(index, addresses.count)
            guard case .pack(let pack) = directory.fetch(address, of: id) else { return nil }
            return pack
        }
    }

    /// Reads every file, and returns the problems: in the file, in its references, and compared with our state.
    package mutating func examine(_ progress: (Int, Int) -> Void) throws(MirrorFailure) -> [FolderCheck.Finding] {
        try begin()
        defer { end() }
        let listing = try listingOfAll()
        let addresses = listing.packs
        // A file without a valid signature is reported as such, and not by its name alone.
        var check = engine.status.check(of: screened(listing))
        let unknown = Set(engine.status.unknownFiles(in: listing))
        for (index, address) in addresses.enumerated() {
            progress(index, addresses.count)
            // The files of an expelled host that were used before are no longer accepted.
            if directory.signatures?.isExpelled(address.writer) ?? false, !unknown.contains(address) { continue }
            let fetch = directory.fetch(address, of: id)
            check.add(address, fetch, isEmpty: (try? directory.size(of: directory.place(of: address))) == 0)
        }
        return check.finish()
    }

    private func listingOfAll() throws(MirrorFailure) -> Listing {
        try MirrorFailure.wrapping {
            let mirrors = try directory.markers()
            guard mirrors.contains(id) else {
                throw MirrorFailure(.noMirror(directory: directory.path.description))
            }
            var listing = try directory.listing(own: writer, chosen: mirrors.count > 1 ? id : nil)
            listing.strays = try directory.strays()
            return listing
        }
    }
}
