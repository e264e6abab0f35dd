/// What a trial came to: the medians of ourselves and of each peer, nil where something failed.
struct TrialResult {
    let trial: Trial
    let ours: Measurement?
    let peers: [String: Measurement?]
    /// What went wrong, a sentence each.
    let problems: [String]
}

extension TrialResult {
    /// Measures all contenders in turn, `rounds` times, so that a change of the machine's mood meets each of them.
    init(of trial: Trial, at path: String, peers: [Peer], rounds: Int) {
        let contenders = [Ourselves.description] + peers.map(\.description)
        var measured: [String: [Measurement]] = [:]
        var problems: [String: String] = [:]
        for _ in 0..<rounds {
            for contender in contenders where problems[contender.name] == nil {
                do {
                    measured[contender.name, default: []].append(try contender.measure(trial, path))
                } catch {
                    problems[contender.name] = "\(contender.name): \(trial): \(error)"
                }
            }
        }
        let medians = measured.mapValues(Measurement.median)
        self.init(
            trial: trial, ours: medians[Ourselves.description.name] ?? nil,
            peers: medians.filter { $0.key != Ourselves.description.name }, problems: problems.values.sorted())
    }

    /// How many times as fast as the target's peer we are; nil where either is not measured.
    ///
    /// The fastest peer says nothing while one of them is not measured: it may be the fastest.
    var ratio: Double? {
        guard let ours else { return nil }
        let names = trial.target.peer.map { [$0] } ?? PeerDescription.measuring(trial).map(\.name)
        let ratios = names.compactMap { name in (peers[name] ?? nil).map(ours.advantage(over:)) }
        return ratios.count == names.count ? ratios.min() : nil
    }

    var verdict: Verdict {
        guard ours != nil else { return .missed }
        return ratio.map { $0 >= trial.target.ratio ? .met : .missed } ?? .open
    }
}

extension Measurement {
    /// The ratio of speeds or of times, whichever is less: writing the same value in more bytes, or in fewer, is no
    /// merit.
    fileprivate func advantage(over other: Measurement) -> Double {
        min(megabytesPerSecond / other.megabytesPerSecond, other.nanoseconds / nanoseconds)
    }
}
