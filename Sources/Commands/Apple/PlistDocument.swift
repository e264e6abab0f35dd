internal import Platform
internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension PlistBuddy {
    /// A property list that commands change, and the container at which entries without a leading colon begin.
    struct Document: Sendable {
        var root: PropertyList
        private var container: [String] = []

        init(root: PropertyList) { self.root = root }
    }

    /// Reads the files that `Merge` and `Import` name.
    struct FileReader: Sendable {
        let context: CommandContext

        fileprivate func bytes(_ name: String, for verb: String) throws -> [UInt8] {
            do {
                return try context.contents(name, limit: PropertyList.Limits.default.inputBytes)
            } catch  where (error as? SystemFailure)?.isBrokenPipe != true {
                let code = (error as? SystemFailure)?.code ?? .noSuchFile
                throw PlistBuddyFailure(
                    "Error Opening File: \(name) [\(code)]\n\(verb): Error Reading File: \(name)")
            }
        }

        fileprivate func propertyList(_ name: String) throws -> PropertyList {
            let bytes = try bytes(name, for: "Merge")
            do throws(AppleFile.Damage) {
                return try AppleFile.contents(bytes, named: name).value
            } catch {
                throw PlistBuddyFailure("\(error.lines.joined())\nMerge: Error Reading File: \(name)")
            }
        }
    }
}

extension PlistBuddy.Document {
    /// The keys and indexes from the root to an entry. Empty components lead nowhere, as a final colon.
    private func path(_ entry: PlistBuddy.Entry) -> [String] {
        (entry.isAbsolute ? [] : container) + entry.components.filter { !$0.isEmpty }
    }

    func value(_ entry: PlistBuddy.Entry) -> PropertyList? { root.entry(path(entry)) }

    /// Carries out a command that changes the document. Returns what it does to an entry, unless the values show it.
    ///
    /// - Parameter note: Prints a message about something that is not a failure.
    mutating func apply(
        _ command: PlistBuddy.Command, _ files: PlistBuddy.FileReader, note: (String) throws -> Void
    ) throws -> EntryStep? {
        switch command {
        case .help, .exit, .save, .revert, .show: break
        case .clear(let type, let word):
            if type == nil { try note("Unrecognized Type: \(word)") }
            try note("Initializing Plist...")
            (root, container) = ((type ?? .dict).empty, [])
        case .set(let entry, let text): try set(entry, to: text)
        case .add(let entry, let type, let text):
            return try add(try type.value(text), at: entry, "Add")
        case .copy(let source, let target):
            guard let value = value(source) else { throw PlistBuddyFailure.missing("Copy", source) }
            // Without a second entry there is nothing to do.
            guard !target.text.isEmpty || source.text.isEmpty else { return nil }
            return try add(value, at: target, "Copy")
        case .delete(let entry): return try delete(entry, note)
        case .merge(let file, let entry, let isRecursive):
            let place = entry ?? PlistBuddy.Entry(container.isEmpty ? ":" : "")
            guard let target = value(place) else {
                throw PlistBuddyFailure("Merge: \"\(place.text)\" Entry Does Not Exist")
            }
            guard target.isContainer else { throw PlistBuddyFailure("Merge: Specified Entry Must Be a Container") }
            let merged = try target.merging(files.propertyList(file), isRecursive: isRecursive, note)
            try root.replaceEntry(path(place), by: merged)
        case .importing(let entry, let file):
            let former = value(entry)
            if former?.isContainer == true {
                throw PlistBuddyFailure("Import: Specified Entry Must Not Be a Container")
            }
            let bytes = try files.bytes(file, for: "Import")
            guard let former else { return try add(.data(Data(bytes)), at: entry, "Import") }
            let text = former.kind == .data ? nil : String(validating: bytes, as: UTF8.self)
            let value = try text.map { try PlistBuddy.ValueType(former).value($0) } ?? .data(Data(bytes))
            try root.replaceEntry(path(entry), by: value)
        case .enter(let entry):
            guard let value = value(entry) else { throw PlistBuddyFailure.missing("CD", entry) }
            guard value.isContainer else {
                throw PlistBuddyFailure("CD: Entry, \"\(entry.text)\", Is Not A Container")
            }
            container = path(entry)
        }
        return nil
    }

    private mutating func set(_ entry: PlistBuddy.Entry, to text: String) throws {
        guard let former = value(entry) else { throw PlistBuddyFailure.missing("Set", entry) }
        guard !former.isContainer else { throw PlistBuddyFailure("Set: Cannot Perform Set On Containers") }
        try root.replaceEntry(path(entry), by: PlistBuddy.ValueType(former).value(text))
    }

    /// Adds an entry. Missing containers on the way are made as dictionaries. An index inserts into an array; one
    /// beyond its end, or none, appends.
    private mutating func add(
        _ value: PropertyList, at entry: PlistBuddy.Entry, _ verb: String
    ) throws -> EntryStep? {
        let (outer, last) = (entry.components.dropLast().filter { !$0.isEmpty }, entry.components.last ?? "")
        var changed = root
        var path = entry.isAbsolute ? [] : container
        for component in outer {
            guard let container = changed.entry(path) else { throw PlistBuddyFailure.missing(verb, entry) }
            if container.entry([component]) == nil {
                guard let (grown, place) = container.adding(.dictionary([:]), at: component) else {
                    throw PlistBuddyFailure("\(verb): Entry, \"\(entry.text)\", Incorrectly Specified")
                }
                try changed.replaceEntry(path, by: grown)
                path.append(place)
            } else {
                path.append(component)
            }
        }
        guard let container = changed.entry(path) else { throw PlistBuddyFailure.missing(verb, entry) }
        if case .dictionary(let entries) = container, entries[last] != nil || verb == "Copy" && entry.text.isEmpty {
            throw PlistBuddyFailure("\(verb): \"\(entry.text)\" Entry Already Exists")
        }
        guard let (grown, place) = container.adding(value, at: last) else {
            throw PlistBuddyFailure("\(verb): Can't Add Entry, \"\(entry.text)\", to Parent")
        }
        try changed.replaceEntry(path, by: grown)
        root = changed
        return container.kind == .array ? .insertion(root.place(of: path + [place])) : nil
    }

    private mutating func delete(
        _ entry: PlistBuddy.Entry, _ note: (String) throws -> Void
    ) throws -> EntryStep? {
        let path = path(entry)
        guard !entry.text.isEmpty else {
            container = []
            try note("Working Container has become Invalid.  Setting to :")
            return nil
        }
        guard let last = path.last, entry.components.last?.isEmpty == false, root.entry(path) != nil,
            let outer = root.entry(path.dropLast())
        else { throw PlistBuddyFailure.missing("Delete", entry) }
        let step = EntryStep.removal(root.place(of: path))
        switch outer {
        case .dictionary(var entries):
            entries.removeValue(forKey: last)
            try root.replaceEntry(path.dropLast(), by: .dictionary(entries))
        case .array(var elements):
            if let index = Int(last) { elements.remove(at: index) }
            try root.replaceEntry(path.dropLast(), by: .array(elements))
        default: break
        }
        if container.starts(with: path) {
            container = []
            try note("Working Container has become Invalid.  Setting to :")
        }
        return step
    }
}

extension PropertyList {
    /// Returns the container with one more entry and the component that leads to it, or nil if there is no place.
    fileprivate func adding(_ value: PropertyList, at component: String) -> (PropertyList, String)? {
        switch self {
        case .dictionary(var entries):
            entries.updateValue(value, forKey: component)
            return (.dictionary(entries), component)
        case .array(var elements):
            guard let index = component.isEmpty ? elements.count : Int(component), index >= 0 else { return nil }
            let place = min(index, elements.count)
            elements.insert(value, at: place)
            return (.array(elements), String(place))
        default: return nil
        }
    }

    /// Returns a container with the entries of another. Keys that exist are kept.
    fileprivate func merging(
        _ other: PropertyList, isRecursive: Bool, _ note: (String) throws -> Void
    ) throws -> PropertyList {
        switch (self, other) {
        case (.array(let elements), .array(let others)): return .array(elements + others)
        case (.dictionary(var entries), .dictionary(let others)):
            for entry in others {
                guard let former = entries[entry.key] else {
                    entries.updateValue(entry.value, forKey: entry.key)
                    continue
                }
                if isRecursive, former.isContainer, former.kind == entry.value.kind {
                    let merged = try former.merging(entry.value, isRecursive: true, note)
                    entries.updateValue(merged, forKey: entry.key)
                } else {
                    try note("Duplicate Entry Was Skipped: \(entry.key)")
                }
            }
            return .dictionary(entries)
        case (.dictionary, .array): throw PlistBuddyFailure("Merge: Can't Add array Entries to dict")
        case (.array, .dictionary): throw PlistBuddyFailure("Merge: Can't Add dict Entries to array")
        case (.array(let elements), _): return .array(elements + [other])
        default: throw PlistBuddyFailure("Merge: Can't Add \(other.kind.rawValue) Entries to dict")
        }
    }

    /// Appends the text of `Print`, without a final line break.
    func print(to bytes: inout [UInt8], indent: Int) {
        let (space, inner) = (String(repeating: "    ", count: indent), String(repeating: "    ", count: indent + 1))
        switch self {
        case .dictionary(let entries):
            bytes += "Dict {\n".utf8
            for entry in entries {
                bytes += "\(inner)\(entry.key) = ".utf8
                entry.value.print(to: &bytes, indent: indent + 1)
                bytes.append(UInt8(ascii: "\n"))
            }
            bytes += "\(space)}".utf8
        case .array(let elements):
            bytes += "Array {\n".utf8
            for element in elements {
                bytes += inner.utf8
                element.print(to: &bytes, indent: indent + 1)
                bytes.append(UInt8(ascii: "\n"))
            }
            bytes += "\(space)}".utf8
        case .string(let text): bytes += text.utf8
        case .integer(let number): bytes += number.description.utf8
        case .real(let number): bytes += number.fixed.utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .date(let date): bytes += date.localText.utf8
        case .data(let data): bytes += data
        default: bytes += "Unprintable Data".utf8
        }
    }
}

// MARK: Types

extension PlistBuddy.ValueType {
    init(_ value: PropertyList) {
        switch value {
        case .string: self = .string
        case .array: self = .array
        case .dictionary: self = .dict
        case .boolean: self = .bool
        case .real: self = .real
        case .integer: self = .integer
        case .date: self = .date
        default: self = .data
        }
    }

    /// The value that `Clear` creates.
    fileprivate var empty: PropertyList {
        switch self {
        case .string: ""
        case .array: .array([])
        case .dict: .dictionary([:])
        case .bool: false
        case .real: .real(0)
        case .integer: 0
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
        case .data: .data(Data())
        }
    }

    /// Returns the value of a text. A number may be followed by other text. For data, it is the text itself.
    fileprivate func value(_ text: String) throws(PlistBuddyFailure) -> PropertyList {
        switch self {
        case .string: return .string(text)
        case .array, .dict: return empty
        case .bool: return .boolean(["true", "yes", "1"].contains(text.lowercased()))
        case .integer:
            guard text.isEmpty || text.beginsNumber(allowing: "0123456789") else { throw Self.unknown("Integer") }
            return .integer(PropertyList.Integer(leadingDigits: text))
        case .real:
            guard text.isEmpty || text.beginsNumber(allowing: "0123456789.inIN") else { throw Self.unknown("Real") }
            return .real(Double(leadingNumber: text))
        case .date:
            guard let date = Date(localText: text) else { throw Self.unknown("Date") }
            return .date(date)
        case .data: return .data(Data(text.utf8))
        }
    }

    /// The failure for a text that is not a value of the type. As on macOS, the exit status does not report it.
    private static func unknown(_ type: String) -> PlistBuddyFailure {
        PlistBuddyFailure("Unrecognized \(type) Format", on: .output, isError: false)
    }
}

extension String {
    fileprivate func beginsNumber(allowing first: String) -> Bool {
        var text = unicodeScalars.drop { $0 == " " || $0 == "\t" }
        if text.first == "-" || text.first == "+" { text.removeFirst() }
        return text.first.map { first.unicodeScalars.contains($0) } ?? false
    }
}

// MARK: Dates

extension Date {
    /// The date as `date` prints it: `Mon Jan 01 00:00:00 UTC 2024`.
    var localText: String {
        guard let seconds = time_t(exactly: timeIntervalSince1970.rounded(.down)) else { return spacedText ?? "" }
        var (moment, fields) = (seconds, tm())
        guard localtime_r(&moment, &fields) != nil else { return spacedText ?? "" }
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, "%a %b %d %H:%M:%S %Z %Y", &fields)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Reads `Mon Jan 01 00:00:00 UTC 2024`, with or without the day of the week and the time zone, `01/31/24`, or RFC
    /// 3339. Other zones than UTC are read as the local one.
    init?(localText text: String) {
        if let date = Date(word: text) {
            self = date
            return
        }
        var fields = tm()
        var isUTC = false
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map { String($0) }
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).compactMap { Int32($0) }
        if numbers.count == 3, words.count == 1 {
            guard (1...12).contains(numbers[0]), (0...9999).contains(numbers[2]) else { return nil }
            let year = numbers[2] < 69 ? numbers[2] + 100 : numbers[2] < 100 ? numbers[2] : numbers[2] - 1900
            (fields.tm_mon, fields.tm_mday, fields.tm_year) = (numbers[0] - 1, numbers[1], year)
        } else {
            var rest = words[...]
            if let first = rest.first, !Self.months.contains(String(first.lowercased().prefix(3))) {
                rest.removeFirst()
            }
            guard rest.count == 5 || rest.count == 4, let word = rest.popFirst(),
                let month = Self.months.firstIndex(of: String(word.lowercased().prefix(3))),
                let day = rest.popFirst().flatMap({ Int32($0) }), let time = rest.popFirst(),
                let year = rest.popLast().flatMap({ Int32($0) })
            else { return nil }
            let parts = time.split(separator: ":", omittingEmptySubsequences: false).compactMap { Int32($0) }
            guard parts.count == 3, (1...9999).contains(year) else { return nil }
            isUTC = rest.first.map { ["utc", "gmt", "z"].contains($0.lowercased()) } ?? false
            (fields.tm_mon, fields.tm_mday, fields.tm_year) = (Int32(month), day, year - 1900)
            (fields.tm_hour, fields.tm_min, fields.tm_sec) = (parts[0], parts[1], parts[2])
        }
        guard (0...11).contains(fields.tm_mon), (1...31).contains(fields.tm_mday), (0...24).contains(fields.tm_hour),
            (0...59).contains(fields.tm_min), (0...60).contains(fields.tm_sec)
        else { return nil }
        fields.tm_isdst = -1
        let seconds = isUTC ? timegm(&fields) : mktime(&fields)
        self.init(timeIntervalSince1970: Double(seconds))
    }
}
