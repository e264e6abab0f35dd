import MirrorEngine
import PropertyLists

/// A preference file, which any program may write.
struct PreferenceFile: Hashable {
    var values = PropertyList.Dictionary()
    var generation: UInt64 = 0
    var modified: Int64 = 0
    var mark: LibraryWrite? = .write
    /// The time at which each key was last written by a program that keeps a history.
    var written: [Name: Int64] = [:]
    /// The content in place of values, such as an unreadable file.
    var content: Observation.Content?
    var hash = ContentHash(of: [])
}

// The preference files of a host, and the programs that write them.
extension SimulatedHost {
    func observations(_ domains: [String]) -> [Observation] {
        for domain in domains { lastRead[domain] = files[domain]?.values }
        return domains.map(observation)
    }

    func observation(_ domain: String) -> Observation {
        guard let file = files[domain] else {
            return Observation(domain: domain, identity: nil, hash: nil, content: .missing, modified: 0)
        }
        let identity = FileIdentity(
            device: 1, inode: file.generation, size: 1, modified: file.modified, changed: file.modified)
        return Observation(
            domain: domain, identity: file.content == .missing ? nil : identity, hash: file.hash,
            content: file.content ?? .values(file.values), modified: file.modified, mark: file.mark,
            written: file.written)
    }

    func write(_ application: Application) throws -> WriteOutcome {
        if let interference {
            self.interference = nil
            interference()
        } else if world.scenario.hasForeignSaves, !world.isCalm, world.chance(0.05) {
            world.count(.foreignSave)
            editAnything()
        }
        let isStale = application.domains.contains { observation($0.domain.domain).identity != $0.file }
        if application.isChecked, isStale { return .changedMeanwhile }
        if isRefused() { return .failed(domain: nil) }
        let domains = application.domains.map(\.domain.domain)
        if let culprit = domains.first(where: unwritable.contains) { return .failed(domain: culprit) }
        if world.misfortune(0.02) {
            world.count(.inputOutput)
            return .failed(domain: world.chance(0.5) ? world.pick(domains) : nil)
        }
        for change in application.domains {
            save(change.domain.domain) { values in
                values = lastRead[change.domain.domain] ?? [:]
                for (key, replacement) in change.changes {
                    guard canHold(replacement.new?.propertyList) else { continue }
                    values[key.key ?? ""] = replacement.new?.propertyList
                }
                distortion?(&values)
            }
        }
        try crashPerhaps()
        return .done(application.domains.map { observation($0.domain.domain) })
    }

    private func canHold(_ value: PropertyList?) -> Bool {
        guard hasNarrowFormat, !world.isCalm, value?.texts.contains(where: { $0.hasSuffix("7") }) ?? false else {
            return true
        }
        world.count(.unheldValue)
        return false
    }

    /// Reads, changes and replaces a preference file like a program.
    func save(_ domain: String, mark: LibraryWrite? = .write, _ change: (inout PropertyList.Dictionary) -> Void) {
        var file = files[domain] ?? PreferenceFile()
        if world.scenario.restoresFiles { formerFiles[domain, default: []].append(file) }
        let before = file.values
        change(&file.values)
        for key in Set(before.map(\.key)).union(file.values.map(\.key)) where before[key] != file.values[key] {
            file.written[Name(key)] = now
        }
        file.generation = nextGeneration()
        file.hash = ContentHash(of: [
            UInt8(truncatingIfNeeded: file.generation), UInt8(truncatingIfNeeded: file.generation >> 8),
        ])
        file.modified = now
        file.mark = mark
        world.log("\(label) file of \(domain): \(file.values)")
        file.content = nil
        files[domain] = file
    }

    private func nextGeneration() -> UInt64 {
        world.nextGeneration += 1
        return world.nextGeneration
    }

    /// Restores a file to a former version, without a mark.
    func restoreFile() {
        let domain = world.pick(world.scenario.domains)
        guard let former = formerFiles[domain], var file = former.randomElement(using: &world.generator) else { return }
        world.count(.fileRolledBack)
        noteRestoredEdit(domain, file)
        file.generation = nextGeneration()
        file.modified = now
        file.mark = nil
        file.written = [:]
        files[domain] = file
    }

    /// A single restored file without a mark cannot be distinguished from an edit by a program that does not use the
    /// library.
    private func noteRestoredEdit(_ domain: String, _ file: PreferenceFile) {
        let known = PropertyList.Dictionary(
            durable.fileValues(in: Path(domain: domain)).map { ($0.key.key ?? "", $0.value.propertyList) })
        for former in [known, files[domain]?.values ?? [:]] {
            for key in Set(former.map(\.key)).union(file.values.map(\.key)) {
                world.record.note(file.values[key], over: former[key], by: label)
            }
        }
    }

    // MARK: Backups

    /// A backup of the preference files and of the mark beside them.
    struct Configuration {
        let files: [String: PreferenceFile]
        let restoreMarker: RestoreMarker?
    }

    var configuration: Configuration { Configuration(files: files, restoreMarker: restoreMarker) }

    func restore(_ configuration: Configuration) {
        restoreMarker = configuration.restoreMarker
        files = configuration.files.mapValues { file in
            var file = file
            file.generation = nextGeneration()
            return file
        }
    }

    /// Makes one to three random changes in one file, like a program.
    func editAnything() {
        let domain = world.pick(world.scenario.domains.filter { $0 != Scenario.domainOfCache })
        save(domain) { values in
            for _ in 0..<world.pick([1, 1, 2, 3]) {
                if world.scenario.mergesByKind, world.chance(0.5) {
                    editMerged(&values, of: domain)
                } else {
                    edit(&values, of: domain, world.pick(world.scenario.paths))
                }
            }
        }
    }

    private func edit(_ values: inout PropertyList.Dictionary, of domain: String, _ path: [String]) {
        let before = values[path[0]]
        let value: PropertyList? = world.chance(0.35) ? nil : .string(text(at: [domain] + path, over: before))
        if path.count == 2 {
            var entries = before?.dictionaryValue ?? [:]
            entries[path[1]] = value
            values[path[0]] = entries.isEmpty && value == nil ? before : .dictionary(entries)
        } else {
            values[path[0]] = value
        }
        world.record.note(values[path[0]], over: before, by: label)
    }

    /// Changes a value that is merged by its kind.
    private func editMerged(_ values: inout PropertyList.Dictionary, of domain: String) {
        let key = world.pick(["words", "words", "count", "newest", "profiles", "profiles"])
        let before = values[key]
        switch world.scenario.kind(of: key) {
        case .set:
            var words = before?.arrayValue ?? []
            if let word = words.randomElement(using: &world.generator), world.chance(0.4) {
                words.removeAll { $0 == word }
            } else {
                words.append(.string(newText()))
            }
            // The order means nothing.
            values[key] = .array(words.shuffled(using: &world.generator))
        case .counter:
            let addend = world.pick([1, 1, 1, 5, -2])
            guard case .integer(let number) = before ?? 0 else { return }
            values[key] = .integer(PropertyList.Integer((Int(exactly: number) ?? 0) + addend))
            world.record.note(added: addend, to: domain)
        case .list:
            var records = before?.arrayValue ?? []
            let index = records.indices.randomElement(using: &world.generator)
            switch (index, world.chance(0.5)) {
            case (let index?, true): records[index] = .dictionary(records[index].edited(with: newText()))
            case (let index?, false) where world.chance(0.4): records.remove(at: index)
            default: records.insert(["id": .string(newText())], at: index ?? 0)
            }
            values[key] = .array(records)
        default:
            let number = world.pick(Array(1...40)) * 100_000 + world.nextValue()
            values[key] = .string("\(number)")
            world.record.note(competing: number)
        }
        world.record.note(values[key], over: before, by: label)
    }

    /// Returns a new text, or sometimes one that the user of another host wrote at this path.
    private func text(at path: [String], over before: PropertyList?) -> String {
        if world.chance(0.1), let text = world.record.text(at: path, notBy: label),
            !(before?.texts.contains(text) ?? false)
        {
            return text
        }
        let text = newText()
        world.record.note(text, at: path, by: label)
        return text
    }

    /// Returns a unique text, which is sometimes too long for a pack.
    func newText() -> String {
        let text = "\(label).\(world.nextValue())"
        guard world.scenario.hasLongValues, world.chance(0.3) else { return text }
        return text + String(repeating: " long", count: Blob.longestInPack / 5 + 1)
    }
}

extension PropertyList {
    /// The entries of a record with another value of one of them.
    fileprivate func edited(with text: String) -> Dictionary {
        var entries = dictionaryValue ?? [:]
        entries["v"] = .string(text)
        return entries
    }
}
