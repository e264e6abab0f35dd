import MirrorEngine

/// The events that may occur in a run, and their frequency.
package struct Scenario: Sendable {
    package let name: String
    var hosts = 3
    var steps = 100
    /// The possible media of the directory, of which the seed chooses one.
    var media = Medium.allCases
    var crashes = false
    var skews = false
    var clones = false
    var rollbacks = false
    var joiners = false
    var hasForeignSaves = true
    /// Whether media refuse files, directories are temporarily unavailable, and hosts have different schemas.
    var hasMisfortunes = true
    /// Whether the directory may lose acknowledged files. Only for scenarios in which no host loses its state as well.
    var losesFiles = false
    /// Whether single preference files are restored.
    var restoresFiles = false
    /// Whether all preference files of a host are restored from a backup, without or with its state, and whether a
    /// state is lost.
    var restoresConfiguration = false
    var restoresMachines = false
    var losesState = false
    /// Whether hosts exchange rarely, so that edits are captured long after they were made.
    var syncsSeldom = false
    /// Whether the formats of some files cannot hold some values.
    var hasNarrowFormats = false
    /// Whether some values are too long for a pack.
    var hasLongValues = false
    /// The time that an unneeded blob remains, in milliseconds.
    var unneededFor: Int64 = 0
    /// Whether some hosts have a version that cannot read all files of the others.
    var mixesVersions = false
    /// The number of logs after which a base is due, and the time that superseded files remain, in milliseconds.
    var leastLogs = 3
    var supersededFor: Int64 = 0
    var mostSuperseded = EngineLimits().mostSuperseded
    var logsOfNumber = EngineLimits().logsOfNumber
    /// The time after which the folder of a retired host is removed, in milliseconds.
    var retiredFor = EngineLimits().retiredFor
    var seeding = Seeding.local
    var bytesOfWriter = EngineLimits().bytesOfWriter
    /// The time between two checks of a host's own files, in milliseconds.
    var checksEvery = Int64.max
    /// The number of short values that are written together.
    var valuesAtOnce = 100_000
    /// The bytes of waiting files that a host keeps in memory.
    var bytesWaiting = EngineLimits().bytesWaiting
    /// The time after which a host that published no note acknowledges what it applied, in milliseconds.
    var acknowledgesEvery = EngineLimits().acknowledgesEvery
    var bytesOfFile = EngineLimits().bytesOfFile
    var keys = EngineLimits().keys
    var bytesOfMirror = EngineLimits().bytesOfMirror
    var losers = EngineLimits().losers
    var writers = EngineLimits().writers
    /// Those who act besides the users that edit files.
    var actors: [Actor] = []
    /// Whether all values are written by one person, who has seen everything.
    var isOfOnePerson = false
    /// Whether the programs of that person use the store.
    var usesStoreOnly = true
    /// The possible delays until another host sees a change, in seconds, or nil for those of the medium.
    var delays: [Int64]?
    var staysLocal: @Sendable (String, String) -> Bool = { _, _ in false }

    /// Whether users also change keys whose values are merged by their kind.
    var mergesByKind = false

    var domains = ["s", "t"]
    let paths = [["a"], ["b"], ["c"], ["c", "x"], ["c", "y"], ["d", "x"], ["d", "y"], ["d"]]
    let dictionaryKeys: Set = ["c", "d"]

    /// The rule for each key.
    func kind(of key: String) -> MergeKind {
        switch key {
        case "words" where mergesByKind: .set
        case "count" where mergesByKind: .counter
        case "newest" where mergesByKind: .maximum
        case "profiles" where mergesByKind: .list(identity: "id")
        default: dictionaryKeys.contains(key) ? .entries : .value
        }
    }

    var limits: EngineLimits {
        var limits = EngineLimits()
        limits.losers = losers
        limits.leastLogs = leastLogs
        limits.supersededFor = supersededFor
        (limits.mostSuperseded, limits.logsOfNumber, limits.retiredFor) = (mostSuperseded, logsOfNumber, retiredFor)
        limits.bytesOfWriter = bytesOfWriter
        limits.checksEvery = checksEvery
        (limits.bytesAtOnce, limits.bytesOfEntry) = (valuesAtOnce << 20, 1 << 20)
        limits.bytesWaiting = bytesWaiting
        (limits.bytesOfFile, limits.keys, limits.writers) = (bytesOfFile, keys, writers)
        (limits.bytesOfMirror, limits.acknowledgesEvery) = (bytesOfMirror, acknowledgesEvery)
        limits.unneededFor = unneededFor
        return limits
    }
}

extension Scenario {
    /// Whether nothing is cloned, restored or lost, and no program writes an old cache or a value that stayed
    /// on its host, so that no conflict may be needless.
    var isOrdinary: Bool {
        !clones && !rollbacks && !restoresFiles && !restoresConfiguration && !restoresMachines && !losesState
            && !mixesVersions && !losesFiles && !actors.contains(.oldCache) && !actors.contains(.keeper)
    }

    /// Whether hosts are cloned, but neither restored nor deprived of their state.
    var onlyClones: Bool {
        guard clones else { return false }
        var other = self
        other.clones = false
        return other.isOrdinary
    }

    package static let all = [
        Scenario(name: "late, duplicate and partial files", media: [.cloud], bytesWaiting: 0),
        Scenario(name: "crashes", crashes: true, valuesAtOnce: 3),
        Scenario(name: "new numbers", crashes: true, joiners: true, logsOfNumber: 3, retiredFor: 60_000),
        Scenario(
            name: "new numbers of clones", crashes: true, clones: true, rollbacks: true, logsOfNumber: 3,
            retiredFor: 60_000),
        Scenario(name: "clocks that are off", crashes: true, skews: true),
        Scenario(name: "clones", media: [.cloud], clones: true, leastLogs: 1),
        // Few hosts that read everything at once, so that all of them apply a deletion before the next change.
        Scenario(
            name: "forgotten deletions", hosts: 2, steps: 180, media: [.posix], crashes: true, joiners: true,
            hasMisfortunes: false, leastLogs: 1, acknowledgesEvery: 1000),
        Scenario(
            name: "forgotten deletions of clones", hosts: 2, steps: 180, media: [.posix], crashes: true, clones: true,
            rollbacks: true, leastLogs: 1, acknowledgesEvery: 1000),
        Scenario(
            name: "forgotten deletions and lost state", hosts: 2, steps: 180, media: [.posix], crashes: true,
            losesState: true, leastLogs: 1, acknowledgesEvery: 1000),
        Scenario(name: "clones and rollbacks", crashes: true, skews: true, clones: true, rollbacks: true),
        Scenario(
            name: "joiners", steps: 180, crashes: true, skews: true, clones: true, rollbacks: true, joiners: true,
            valuesAtOnce: 2),
        Scenario(
            name: "one view", steps: 180, media: [.posix, .posixCrash], crashes: true, skews: true, clones: true,
            rollbacks: true, joiners: true, hasMisfortunes: false, valuesAtOnce: 1),
        // Only in this scenario can a server lose acknowledged files, so the seed chooses SFTP more often.
        Scenario(
            name: "a directory that loses files", media: Medium.allCases + [.sftp, .sftp], crashes: true, skews: true,
            joiners: true, losesFiles: true),
        Scenario(name: "restored preference files", crashes: true, joiners: true, restoresFiles: true),
        // After a crash during an exchange, a restored mark cannot be distinguished from one that the crash left.
        Scenario(name: "configuration restored without its state", restoresConfiguration: true),
        Scenario(name: "restored machines", crashes: true, clones: true, restoresMachines: true),
        Scenario(name: "lost state", crashes: true, joiners: true, losesState: true),
        Scenario(name: "more conflicts than are kept", syncsSeldom: true, losers: 2),
        Scenario(name: "seldom exchanges", crashes: true, skews: true, syncsSeldom: true),
        Scenario(name: "formats that cannot hold a value", crashes: true, hasNarrowFormats: true),
        Scenario(name: "old and new versions", crashes: true, skews: true, joiners: true, mixesVersions: true),
        Scenario(
            name: "little room", crashes: true, skews: true, joiners: true, leastLogs: .max, bytesOfWriter: 2600),
        Scenario(
            name: "clones and rollbacks in little room", crashes: true, clones: true, rollbacks: true, joiners: true,
            leastLogs: .max, bytesOfWriter: 2600),
        Scenario(
            name: "long values", steps: 60, crashes: true, clones: true, rollbacks: true, joiners: true,
            hasLongValues: true, unneededFor: 600_000),
        // After a crash between the write of a file and its record, it is unknown what an old cache has read.
        Scenario(
            name: "a program with an old cache", actors: [.oldCache], domains: ["s", "t", Scenario.domainOfCache]),
        Scenario(name: "conflicts that are resolved", crashes: true, skews: true, actors: [.resolver]),
        Scenario(name: "authors that vanish", steps: 150, crashes: true, joiners: true, actors: [.vanishingAuthor]),
        Scenario(
            name: "states that are rebuilt", media: [.cloud, .nfs], crashes: true, bytesWaiting: 0,
            actors: [.rebuilder]),
        Scenario(
            name: "keys that stay on a host for a while", crashes: true, skews: true, joiners: true,
            actors: [.keeper]),
        Scenario(
            name: "all actors but old caches", steps: 180, crashes: true, skews: true, joiners: true,
            actors: [.resolver, .vanishingAuthor, .rebuilder]),
        Scenario(
            name: "values that are merged by kind", skews: true, joiners: true, hasMisfortunes: false,
            actors: [.resolver, .rebuilder], mergesByKind: true),
        Scenario(
            name: "merged values of clones and lost states", crashes: true, skews: true, clones: true, rollbacks: true,
            joiners: true, losesState: true, mergesByKind: true),
        month, monthWithoutStore,
    ]

    /// Whether a run takes several times as long as others.
    package var isSlow: Bool { hasLongValues || isOfOnePerson }

    /// The order of scenarios in many runs. Slow ones are less frequent.
    static let turns = (0..<4).flatMap { turn in all.filter { turn == 0 || !$0.isSlow } }
}
