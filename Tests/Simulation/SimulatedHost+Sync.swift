import MirrorEngine
import PropertyLists

// The exchange of a host with the mirror.
extension SimulatedHost {
    /// Makes one exchange: capture, pull, publish, compact.
    func sync(compacts: Bool = false) {
        guard !isAway else { return }
        let mayRest = !compacts && isDirectoryThere && world.chance(0.3) && mayRest
        let before = actionCount
        defer {
            if mayRest, actionCount > before {
                world.complain("\(label): has something to do, but its summary reports nothing")
            }
        }
        attempt {
            try send(.foundMark(restoreMarker?.mark))
            if isDirectoryThere, engine.status.shouldPullFirst(listing) || seed != nil { try pull() }
            try capture()
            // A file that cannot be read is captured later.
            let inode = engine.status.trackedFile(of: Path(domain: Scenario.domainOfCache))?.file?.inode
            if inode == files[Scenario.domainOfCache]?.generation { hidden = [:] }
            try pull()
            try publish()
            if compacts { try compact() }
            try send(.exchangeEnded)
        }
    }

    func capture() throws {
        try send(.observed(observations(world.scenario.domains.filter(isReady))))
        if world.chance(0.1) { checkTrackedFiles() }
    }

    /// Whether a domain may be captured. After a loss of the state, the files of the others are joined first.
    private func isReady(_ domain: String) -> Bool {
        let trackedFile = engine.status.trackedFile(of: Path(domain: domain))
        return trackedFile?.isCaptured ?? false || isDirectoryThere || seed == nil && trackedFile?.suspicion == nil
    }

    /// Checks after a capture that each file has the contents that the mirror assumes.
    private func checkTrackedFiles() {
        for (domain, trackedFile) in durable.trackedFiles
        where trackedFile.isMirrored && trackedFile.isCaptured && trackedFile.held == nil {
            let known = durable.fileValues(in: domain).map { ($0.key.key ?? "", $0.value.propertyList) }
            let file = files[domain.domain]?.values ?? [:]
            guard trackedFile.file?.inode == files[domain.domain]?.generation else { continue }
            if PropertyList.Dictionary(known).inOrder != file.inOrder {
                world.complain("\(label): \(domain) is taken to hold \(known)")
            }
        }
    }

    func pull() throws {
        try send(.directory(directory))
        try send(.listed(listing))
    }

    func publish() throws {
        try send(.directory(directory))
        try send(.publish)
    }

    func compact() throws { try send(.compact) }

    func command(_ command: Command) { attempt { try send(.command(command)) } }
}

// MARK: The directory in view

extension SimulatedHost {
    var isDirectoryThere: Bool { directory == .marked([Self.mirror]) }

    var directory: Directory {
        if world.isCalm { return .marked([Self.mirror]) }
        if let misfortune, world.time < misfortune.until { return misfortune.directory }
        if let holder = world.holder, holder !== self { return .unavailable }
        return .marked([Self.mirror])
    }

    var listing: Listing {
        var folders: [WriterID: [String: Int]] = strays
        for address in view.keys { folders[address.writer, default: [:]][world.name(of: address)] = size(of: address) }
        for (writer, names) in blobView {
            for name in names {
                folders[writer, default: [:]][name.description] = world.blobs.all[name]?.value.bytes.count
            }
        }
        return Listing(folders: folders)
    }

    private func size(of address: PackAddress) -> Int {
        (world.files[address]?.size ?? 1) - (view[address] == .partial ? 1 : 0)
    }

    /// Whether the summary of the state indicates that there is nothing to do. The summary does not include the mark
    /// beside the files. A mark that was restored alone is detected by the next exchange that has something to do,
    /// before it reads a file.
    var mayRest: Bool {
        guard restoreMarker?.mark == durable.restoreMarkers.marks.first else { return false }
        let bytes = Journal.encoded(engine.summary(journalLength: 0))
        guard let summary = try? Journal.summary(bytes) else { return false }
        let identities = world.scenario.domains.map { (Name($0), observation($0).identity) }
        return !summary.needsState(
            listing, files: Dictionary(identities) { $1 }, at: now, limits: world.scenario.limits)
    }
}
