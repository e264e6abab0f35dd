import MirrorEngine

/// What happens in a run, and how often.
struct Scenario: Sendable {
    let name: String
    var hosts = 3
    var steps = 100
    /// Whether all hosts see one directory at once, as on a file server, and not copies that are brought up to date.
    var hasOneView = false
    var crashes = false
    var skews = false
    var clones = false
    var rollbacks = false
    var joiners = false
    var hasForeignSaves = true
    /// Whether some values are too long for a pack.
    var hasLongValues = false
    /// How long a long value stands that is needed no more, in milliseconds.
    var unneededFor: Int64 = 0
    var rules = Rules.sound
    var seeding = Seeding.local
    var bytesOfWriter = EngineLimits().bytesOfWriter
    /// How often a host reads one of its own files again, which its head knows nothing of.
    var checksEvery = Int64.max
    var staysHome: @Sendable (String, String) -> Bool = { _, _ in false }

    let domains = ["s", "t"]
    let paths = [["a"], ["b"], ["c"], ["c", "x"], ["c", "y"], ["d", "x"], ["d", "y"], ["d"]]
    let dictionaryKeys: Set = ["c", "d"]

    var limits: EngineLimits {
        var limits = EngineLimits()
        limits.leastLogs = 3
        limits.supersededFor = 0
        limits.bytesOfWriter = bytesOfWriter
        limits.checksEvery = checksEvery
        limits.unneededFor = unneededFor
        return limits
    }

    static let all = [
        Scenario(name: "late, duplicate and partial files"),
        Scenario(name: "crashes", crashes: true),
        Scenario(name: "clocks that are off", crashes: true, skews: true),
        Scenario(name: "clones and rollbacks", crashes: true, skews: true, clones: true, rollbacks: true),
        Scenario(name: "joiners", steps: 180, crashes: true, skews: true, clones: true, rollbacks: true, joiners: true),
        Scenario(
            name: "one view", steps: 180, hasOneView: true, crashes: true, skews: true, clones: true, rollbacks: true,
            joiners: true),
        Scenario(
            name: "long values", steps: 60, crashes: true, clones: true, rollbacks: true, joiners: true,
            hasLongValues: true, unneededFor: 600_000),
    ]
}
