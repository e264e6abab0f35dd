// What others wrote.
extension LocalState {
    /// Takes up a file of another writer. Nothing is taken from the state because a file lacks it.
    mutating func join(_ pack: Pack, at now: Int64) {
        let writer = pack.address.writer
        switch pack.content {
        case .note(let note):
            if note.number >= peers[writer]?.note?.number ?? 0 { peers[writer, default: Peer()].note = note }
            peers[writer, default: Peer()].joined.insert(pack.hash.prefix)
        case .log(let log):
            hear(log)
            join(log, hash: pack.hash, at: now)
        case .base(let base):
            if base.last > knowledge[writer] { retired.remove(writer) }
            join(base, hash: pack.hash, at: now)
        }
    }

    /// Who says something new is there.
    private mutating func hear(_ log: LogPack) {
        retired.remove(log.writer)
        let last = log.transactions.map(\.stamp).max() ?? .zero
        peers[log.writer, default: Peer()].lastStamp = max(last, peers[log.writer]?.lastStamp ?? .zero)
    }

    private mutating func join(_ log: LogPack, hash: Fingerprint, at now: Int64) {
        let link = ChainLink(log, hash: hash)
        let known = knowledge(at: link, of: peers[log.writer])
        // One after the other, for each may be about thousands of writers.
        let arrivals = zip(log.first..., log.transactions).lazy.flatMap { sequence, entry in
            let differing = entry.context + [Dot(writer: log.writer, sequence: sequence - 1)]
            let dot = Dot(writer: log.writer, sequence: sequence)
            return entry.writes.map { Arrival(atom: $0.atom(of: dot), known: known, differing: differing) }
        }
        let hidden = take(arrivals, at: now)
        var peer = peers[log.writer] ?? Peer()
        peer.joined.insert(hash.prefix)
        peer.beyond.append(link)
        followChain(of: log.writer, &peer)
        peers[log.writer] = peer
        keep(hidden)
    }

    /// What the writer of a log knew when it wrote it, or less where it is not known what it knew at the log before.
    private func knowledge(at link: ChainLink, of peer: Peer?) -> VersionVector {
        guard let peer, let previous = link.previous, previous == peer.tip else {
            return VersionVector(link.knowledge)
        }
        return peer.knowledge.applying(link.knowledge)
    }

    /// Goes on along a writer's logs as far as there is no gap.
    private mutating func followChain(of writer: WriterID, _ peer: inout Peer) {
        while let index = peer.beyond.firstIndex(where: { $0.first - 1 <= knowledge[writer] }) {
            let link = peer.beyond.remove(at: index)
            guard link.last >= knowledge[writer] else { continue }
            peer.knowledge = knowledge(at: link, of: peer)
            peer.tip = link.hash
            knowledge.raise(writer, to: link.last)
        }
    }

    private mutating func join(_ base: BasePack, hash: Fingerprint, at now: Int64) {
        var known = [base.writer: base.knowledge]
        for author in base.carried { known[author] = knowledge(of: author, carriedIn: base) }
        let arrivals = base.atoms.lazy.map { entry in
            Arrival(atom: entry.atom, known: known[entry.atom.dot.writer] ?? VersionVector(), beat: entry.beat)
        }
        let hidden = take(arrivals, at: now)
        var peer = peers[base.writer] ?? Peer()
        peer.joined.insert(hash.prefix)
        if let anchor = base.anchor { peer.joined.insert(anchor.prefix) }
        if base.last >= peer.baseSequence { peer.carries = base.carried }
        peer.baseSequence = max(peer.baseSequence, base.last)
        if base.last >= knowledge[base.writer] {
            // What a writer knows only grows: at a base as much as at the log before it, and no more than at the next.
            peer.knowledge = base.knowledge
            peer.tip = base.anchor
        }
        knowledge.raise(base.writer, to: base.last)
        followChain(of: base.writer, &peer)
        peers[base.writer] = peer
        keep(hidden)
    }

    /// Who carries another's atoms knows more than he did: of that one counts what he said himself.
    private func knowledge(of author: WriterID, carriedIn base: BasePack) -> VersionVector {
        base.knowledge.minimum(with: peers[author]?.knowledge ?? VersionVector())
    }

    /// An atom that comes in, and what its author knew: all of this but for what he beat before he knew of it.
    private struct Arrival {
        let atom: Atom
        let known: VersionVector
        /// Where the author knew more or less than that.
        var differing: [Dot] = []
        var beat: [Dot] = []

        func sawOther(_ dot: Dot) -> Bool {
            let sequence = differing.last { $0.writer == dot.writer }?.sequence ?? known[dot.writer]
            return dot.sequence <= sequence && !beat.contains(dot)
        }
    }

    /// What fell under another's write, by the path of that write.
    private typealias Hidden = [(path: Path, beat: Beat)]

    /// Joins atoms, and keeps what the preference files hold apart from the view where the view changes. Returns what
    /// may never have been shown in a file.
    private mutating func take(_ arrivals: some Sequence<Arrival>, at now: Int64) -> Hidden {
        var (files, hidden) = (FilesOfDomains(shadows), Hidden())
        for arrival in arrivals where rules.keepsEveryDomain || isMirrored(arrival.atom.path) {
            clock.observe(arrival.atom.stamp, now: now)
            if files.hold(arrival.atom.path) {
                hidden += note(joinWithFile(arrival.atom), of: arrival, at: now)
            } else {
                _ = note(atoms.join(arrival.atom), of: arrival, at: now)
            }
        }
        return hidden
    }

    /// Remembers what files do not show: whoever writes into them beats that, too, without having seen it.
    private mutating func keep(_ hidden: Hidden) {
        guard rules.keepsBeat, !hidden.isEmpty else { return }
        let seen = seenInAllFiles
        for (path, beat) in hidden where !seen.covers(beat.beaten) && !(beats[path] ?? []).contains(beat) {
            beats[path, default: []].append(beat)
        }
    }

    /// Joins an atom, and keeps what its domain's file holds apart from the view.
    mutating func joinAtBorder(_ atom: Atom) -> AtomStore.Outcome {
        let isCaptured = shadows[atom.path.prefix(components: 1)]?.isCaptured ?? false
        return isCaptured ? joinWithFile(atom) : atoms.join(atom)
    }

    /// Joins an atom of a domain that has a file here.
    private mutating func joinWithFile(_ atom: Atom) -> AtomStore.Outcome {
        let path = atom.path
        let key = path.prefix(components: 2)
        let isDomain = key.depth < 2
        // Where every atom is a whole key, what it displaces says what there was.
        let isPlain = key == path && !isDomain && !atoms.hasAtoms(ofDepth: 1) && atoms.isAtMost(deep: 2)
        let keys = isDomain ? atoms.keys(under: path).map(\.path) : [key]
        let before = isPlain ? [] : keys.map { atoms.value(at: $0) }
        let outcome = atoms.join(atom)
        if !isPlain {
            for (key, value) in zip(keys, before) { updateException(key, before: value, after: atoms.value(at: key)) }
        } else if case .joined(let displaced) = outcome {
            updateException(key, before: displaced.first?.value.value, after: atom.value.value)
        }
        return outcome
    }

    private mutating func note(_ outcome: AtomStore.Outcome, of arrival: Arrival, at now: Int64) -> Hidden {
        switch outcome {
        case .known: return []
        case .dominated(let winners):
            for winner in winners { noteBeaten(arrival.atom, by: winner) }
            guard !isOwn(arrival.atom.dot) else { return [] }
            return winners.filter { !isOwn($0.dot) }
                .map { ($0.path, Beat(beaten: arrival.atom.dot, by: $0.dot)) }
        case .joined(let displaced):
            return displaced.flatMap { loser in
                noteLost(loser, to: arrival, at: now)
                let beaten =
                    (beats.removeValue(forKey: loser.path) ?? []).map(\.beaten)
                    + (isOwn(loser.dot) ? [] : [loser.dot])
                return beaten.map { (arrival.atom.path, Beat(beaten: $0, by: arrival.atom.dot)) }
            }
        }
    }

    /// Which domains have a file here; asked for many paths of one domain in a row.
    private struct FilesOfDomains {
        private let captured: Set<Path>
        private var last: (domain: Path, isCaptured: Bool)?

        init(_ shadows: [Path: Shadow]) { captured = Set(shadows.filter(\.value.isCaptured).keys) }

        mutating func hold(_ path: Path) -> Bool {
            if let last, last.domain.isPrefix(of: path) { return last.isCaptured }
            let domain = path.prefix(components: 1)
            last = (domain, captured.contains(domain))
            return captured.contains(domain)
        }
    }

    private func isMirrored(_ path: Path) -> Bool { shadows[path.prefix(components: 1)]?.isMirrored ?? false }

    /// Whoever joins what falls at once under his own write says so in his next base.
    private mutating func noteBeaten(_ atom: Atom, by winner: Atom) {
        guard rules.keepsBeat, isOwn(winner.dot), atom.dot.writer != writer, winner.value != atom.value else { return }
        guard !knowledge.covers(atom.dot) else { return }
        let beat = Beat(beaten: atom.dot, by: winner.dot)
        if !(beats[winner.path] ?? []).contains(beat) { beats[winner.path, default: []].append(beat) }
    }

    private mutating func noteLost(_ loser: Atom, to arrival: Arrival, at now: Int64) {
        guard isOwn(loser.dot) else { return }
        let winner = arrival.atom
        // Under one dot there are two values in a fork only, where neither author has seen the other's.
        let isFork = loser.dot == winner.dot
        guard loser.value != winner.value, isFork || !arrival.sawOther(loser.dot) else { return }
        guard loser.path == winner.path || atoms.value(at: loser.path) != loser.value.value else { return }
        // The same change under our former name.
        if !isFork, isOwn(winner.dot), winner.stamp == loser.stamp { return }
        conflicts.add(path: loser.path, value: loser.value, loser: loser.dot, winner: winner, at: now)
    }
}
