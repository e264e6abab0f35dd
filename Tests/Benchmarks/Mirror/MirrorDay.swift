import MirrorEngine
import PropertyLists

/// A store whose settings change all day long, and what that leaves in the directory: in memory, by a clock that is
/// moved.
///
/// What the rim does for the engine is done here: preference files, the writer's folder and the time are numbers.
struct MirrorDay {
    private var engine: Engine
    private var files: [PackName: Int] = [:]
    /// What lies in the directory.
    private(set) var bytes = 0
    private var values: [PropertyList.Dictionary]
    private var milliseconds: Int64 = 1_750_000_000_000
    private var random = SmallRandom(state: 11)
    private var edits: Int64 = 0
    private(set) var mostBytes = 0
    /// Whether the mirror ever kept a change back because there were too many bytes.
    private(set) var hasWaited = false

    private static let domains = 500
    private static let keysOfDomain = 20
    static let day: Int64 = 86_400_000

    init() {
        let local = LocalState(mirror: MirrorID(high: 1, low: 2), writer: .first(random: 42))
        engine = Engine(local, profile: Engine.Profile(label: "a", platform: "linux", software: "prefs 1"))
        let keys = (0..<Self.keysOfDomain).map { (MirrorHost.key($0), PropertyList.string("value \($0)")) }
        values = Array(repeating: PropertyList.Dictionary(keys), count: Self.domains)
        tell(.directory(.marked([engine.local.mirror])))
        for number in values.indices {
            tell(.command(.add(domain: Self.domain(number))))
            observe(number)
        }
        tell(.publish)
    }

    private static func domain(_ number: Int) -> String { "com.example.day\(number)" }

    /// Sets so many values within a day, one after the other, and publishes once a second.
    mutating func pass(sets count: Int) {
        let end = milliseconds + Self.day
        var published = milliseconds
        for _ in 0..<count {
            milliseconds += Self.day / Int64(count)
            set()
            guard milliseconds - published >= 1000 else { continue }
            published = milliseconds
            tell(.publish)
        }
        milliseconds = max(milliseconds, end)
        tell(.publish)
    }

    /// Sets a value, and takes that up.
    mutating func set() {
        let number = random.next(below: Self.domains)
        let key = MirrorHost.key(random.next(below: Self.keysOfDomain))
        values[number][key] = .string("changed \(random.next(below: 1_000_000))")
        observe(number)
    }

    /// Lets a day pass in which nothing is set, and looks every minute.
    mutating func rest() {
        for _ in 0...Self.day / 60_000 {
            milliseconds += 60_000
            tell(.publish)
        }
    }

    /// What says all that there is to say, and no more.
    var liveBytes: Int { engine.local.base.encoded().bytes.count }

    var unsaid: Int { engine.local.outbox.count }

    private mutating func observe(_ number: Int) {
        edits += 1
        let file = FileIdentity(device: 1, inode: UInt64(number), size: 1, modified: edits, changed: edits)
        tell(
            .observed([
                Observation(
                    domain: Self.domain(number), identity: file, hash: nil, content: .values(values[number]),
                    modified: milliseconds, mark: .write)
            ]))
    }

    private mutating func tell(_ event: Event) {
        var events = [event]
        while !events.isEmpty {
            let actions = engine.handle(events.removeFirst(), at: Moment(now: milliseconds, random: 1))
            for action in actions { events += carryOut(action) }
        }
        mostBytes = max(mostBytes, bytes)
    }

    private mutating func carryOut(_ action: Action) -> [Event] {
        switch action {
        case .create(let address, let pack):
            bytes += pack.bytes.count - (files.updateValue(pack.bytes.count, forKey: address.name) ?? 0)
            return [.created(address.name)]
        case .remove(let names):
            for name in names { bytes -= files.removeValue(forKey: name) ?? 0 }
            return [.removed(names)]
        case .report(.waiting): hasWaited = true
        default: break
        }
        return []
    }
}

extension MirrorLine {
    static let day = MirrorLine(title: "a million sets of a day: 24 h after the last ≤ 2 × the live size on disk") {
        sizes in
        var day = MirrorDay()
        day.pass(sets: sizes.sets)
        let hasSaidAll = day.unsaid == 0 && !day.hasWaited
        day.rest()
        return [
            MirrorFigure(
                "on disk, 24 h after \(sizes.sets) sets / live", ratio: Double(day.bytes) / Double(day.liveBytes),
                atMost: 2),
            MirrorFigure(
                "on disk, the most during the day", bytes: day.mostBytes, atMost: EngineLimits().bytesOfWriter),
            MirrorFigure("times a change was kept back", count: hasSaidAll ? 0 : 1, exactly: 0),
        ]
    }
}
