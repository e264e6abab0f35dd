import PropertyLists

/// How many times as fast as a peer a trial has to be.
struct Target {
    /// The peer by its name, or nil for the fastest.
    let peer: String?
    let ratio: Double
}

extension Trial {
    var target: Target {
        switch (format, operation) {
        case (_, .decode), (_, .encode): Target(peer: "Foundation", ratio: 8)
        case (.xml, .read): Target(peer: nil, ratio: 3)
        case (.xml, .write): Target(peer: nil, ratio: 2)
        case (.binary, .read): Target(peer: "libplist", ratio: load == .nested ? 2 : 0.9)
        case (.binary, .write): Target(peer: "libplist", ratio: load == .settings ? 3 : 30)
        case (.json, .read): Target(peer: "orjson", ratio: load == .settings ? 0.5 : 1)
        case (.json, .write): Target(peer: "orjson", ratio: load == .settings ? 0.6 : 0.75)
        case (.openstep, .read), (.gnustep, .read): Target(peer: "GNUstep", ratio: 2)
        case (.openstep, .write), (.gnustep, .write): Target(peer: "GNUstep", ratio: 5)
        }
    }
}

/// Whether a trial, or a bound, came to what it has to.
enum Verdict: String {
    case met
    case missed = "MISSED"
    /// A peer is not there to compare with.
    case open = "not judged"
}
