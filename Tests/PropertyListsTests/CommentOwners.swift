import Foundation
import PropertyLists
import TestSupport
import Testing

/// The owners of a text's comments by the rules of the manual, found line by line. Each comment has a mark: `c12z`.
struct CommentOwners {
    /// The path of the entry that owns each comment.
    private(set) var owners: [String: EntryPath] = [:]
    /// The innermost entry that contains each comment that is inside an entry.
    private(set) var inside: [String: EntryPath] = [:]
    private(set) var all: Set<String> = []

    /// The text with every byte of a comment replaced by this one, so that a comment of several lines is on one.
    private static let mark: UInt8 = 1

    init(_ bytes: [UInt8], _ syntax: DocumentGenerator.Syntax) {
        let isWide = bytes.starts(with: [0xFF, 0xFE])
        let start = isWide ? 2 : bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let units = stride(from: 2, to: isWide ? bytes.count - 1 : 0, by: 2).map {
            UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
        }
        let text = isWide ? Array(String(decoding: units, as: UTF16.self).utf8) : Array(bytes[start...])
        guard let map = SourceMap(text, as: syntax.format, options: syntax.options) else { return }
        var skeleton = text
        let comments = Self.comments(text, isXML: syntax == .xml)
        for (_, range) in comments { for at in range { skeleton[at] = Self.mark } }
        all = Set(comments.map(\.name))
        let paths = Self.paths(map)
        for (position, entry) in map.entries.enumerated() where entry.container != nil {
            let path = paths[position]
            for (name, range) in comments
            where entry.start <= range.lowerBound && range.upperBound <= entry.value.upperBound {
                inside[name] = path
            }
        }
        for (position, entry) in map.entries.enumerated() {
            guard let container = entry.container else { continue }
            let siblings = map.entries.indices.filter { map.entries[$0].container == container }
            let next = siblings.first { $0 > position }.map { map.entries[$0] }
            let isFirst = siblings.first == position && container == 0 && syntax == .strings
            for range in Self.owned(entry, next: next, isFirst: isFirst, skeleton) {
                for (name, found) in comments where range.contains(found.lowerBound) { owners[name] = paths[position] }
            }
        }
    }

    private static func paths(_ map: SourceMap) -> [EntryPath] {
        var paths: [EntryPath] = []
        for entry in map.entries {
            let outer = entry.container.map { paths[$0].components } ?? []
            paths.append(EntryPath(outer + (entry.component.map { [$0] } ?? [])))
        }
        return paths
    }

    private static func comments(_ text: [UInt8], isXML: Bool) -> [(name: String, range: Range<Int>)] {
        let string = String(decoding: text, as: UTF8.self)
        return string.matches(of: isXML ? /<!-- (c\d+z)/ : /\/[*\/] (c\d+z)/).map { match in
            let from = string.utf8.distance(from: string.startIndex, to: match.range.lowerBound)
            let close: [UInt8] = isXML ? Array("-->".utf8) : text[from + 1] == UInt8(ascii: "*") ? Array("*/".utf8) : []
            var end = from + 2
            if close.isEmpty {
                while end < text.count, text[end] != 0x0A, text[end] != 0x0D { end += 1 }
            } else {
                while !text[end...].starts(with: close) { end += 1 }
                end += close.count
            }
            return (String(match.1), from..<end)
        }
    }

    private static func isBlank(_ bytes: some Sequence<UInt8>) -> Bool { bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
    private static func hasOnlyComments(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == mark }
    }

    /// The ranges of the comments that an entry owns beside itself.
    private static func owned(
        _ entry: SourceMap.Entry, next: SourceMap.Entry?, isFirst: Bool, _ text: [UInt8]
    ) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var at = 0
        while at <= text.count {
            var end = at
            while end < text.count, text[end] != 0x0A, text[end] != 0x0D { end += 1 }
            lines.append(at..<end)
            at = end + (text[min(end, text.count)...].starts(with: [0x0D, 0x0A]) ? 2 : 1)
        }
        var ranges: [Range<Int>] = []
        func line(of offset: Int) -> Int {
            lines.firstIndex { $0.lowerBound <= offset && offset <= $0.upperBound } ?? 0
        }
        let number = line(of: entry.start)
        let head = text[lines[number].lowerBound..<entry.start]
        let onLine = head.reversed().prefix { $0 == 0x20 || $0 == 0x09 || $0 == mark }.count
        let same = entry.start - onLine..<entry.start
        var first = number
        if onLine == head.count {
            let indent = head.prefix { $0 == 0x20 || $0 == 0x09 }
            while first > 0 {
                let above = text[lines[first - 1]]
                guard hasOnlyComments(above), !isBlank(above),
                    above.prefix(while: { $0 == 0x20 || $0 == 0x09 }).elementsEqual(indent)
                else { break }
                first -= 1
            }
        }
        let above = lines[first].lowerBound..<lines[number].lowerBound
        let isAfterBlank = first > 0 && isBlank(text[lines[first - 1]])
        let isFollowed = next.map { line(of: $0.start) <= line(of: entry.value.upperBound) + 1 } ?? false
        let isFirstOfFile = isFirst && !text[..<lines[first].lowerBound].contains(mark)
        if !(isFirstOfFile && above.isEmpty) { ranges.append(same) }
        if !isFirstOfFile, !(isAfterBlank && isFollowed) { ranges.append(above) }
        // After the value: comments, one separator, and comments if no other entry follows them on the line.
        func skip(_ from: Int, overLines: Bool = false) -> Int {
            var at = from
            while at < text.count, hasOnlyComments([text[at]]) || overLines && (text[at] == 0x0A || text[at] == 0x0D) {
                at += 1
            }
            return at
        }
        let (end, separator) = (entry.value.upperBound, skip(entry.value.upperBound, overLines: true))
        let hasSeparator = separator < text.count && [UInt8(ascii: ","), UInt8(ascii: ";")].contains(text[separator])
        if hasSeparator { ranges.append(end..<min(skip(end), separator)) }
        let start = hasSeparator ? separator + 1 : end
        if next?.start != skip(start) { ranges.append(start..<skip(start)) }
        return ranges
    }
}

extension CommentOwners {
    /// Returns the fault in the comments of a text after an edit, or nil if there is none.
    func fault(
        after edit: DocumentGenerator.Edit, of value: PropertyList, in result: EditResult,
        _ syntax: DocumentGenerator.Syntax
    ) -> String? {
        let after = CommentOwners(result.bytes, syntax)
        let lost = all.subtracting(after.all)
        let noted = Set(result.removedComments.flatMap { $0.matches(of: /c\d+z/).map { String($0.0) } })
        guard noted == lost else { return "reported \(noted), lost \(lost)" }
        let place = edit.place
        let within = all.filter { inside[$0]?.components.starts(with: place.components) ?? false }
        switch edit {
        case .remove:
            let owned = within.union(all.filter { owners[$0] == place })
            guard lost == owned else { return "lost \(lost), owned \(owned)" }
        case .set: guard lost.isSubset(of: within) else { return "lost \(lost)" }
        case .insert, .rename: guard lost.isEmpty else { return "lost \(lost)" }
        }
        for (name, owner) in after.owners {
            if let former = owners[name] {
                if case .set = edit, former.components.starts(with: place.components), former != place { continue }
                let expected = edit.moved(former, in: value)
                guard owner == expected else { return "\(name) went from \(former) to \(owner)" }
            } else if case .set(let path, _) = edit, value[path] == nil, owner == path {
                return "\(name) went to \(owner)"
            }
        }
        return nil
    }
}

extension DocumentGenerator.Edit {
    /// The path of the edited entry.
    fileprivate var place: EntryPath {
        switch self {
        case .set(let path, _), .remove(let path), .rename(let path, _): path
        case .insert(let path, let index, _): EntryPath(path.components + [.init(index)])
        }
    }

    /// Returns the path that another entry has after the edit.
    fileprivate func moved(_ path: EntryPath, in value: PropertyList) -> EntryPath {
        let (outer, last) = (place.components.dropLast(), place.components.last)
        guard path.components.count > outer.count, path.components.starts(with: outer) else { return path }
        var result = path
        let component = path.components[outer.count]
        switch self {
        case .set: return path
        case .rename(_, let name):
            let new = EntryPath(outer + [.init(name)])
            if component == last, value[new] == nil { result.components[outer.count] = .init(name) }
        case .remove, .insert:
            guard case .array(let elements)? = value[EntryPath(Array(outer))], let index = component.index,
                let edited = last?.index
            else { return path }
            if case .remove = self, index > edited { result.components[outer.count] = .init(index - 1) }
            if case .insert = self, index >= min(edited, elements.count) {
                result.components[outer.count] = .init(index + 1)
            }
        }
        return result
    }
}

extension DocumentGenerator.Syntax {
    /// Whether Foundation, which shares no code with this package, reads the bytes as the value. True for what it
    /// cannot read: GNUstep; in XML, UTF-16, uids, space in numbers, and carriage returns; in JSON5, strings of several
    /// lines.
    func isRead(_ bytes: [UInt8], as value: PropertyList) throws -> Bool {
        let text = String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self)
        let isUnknown =
            switch self {
            case .xml:
                bytes.starts(with: [0xFF, 0xFE]) || bytes.contains(0x0D) || text.contains("CF$UID")
                    || text.contains("<integer> ")
            case .json5: text.contains("\\\n") || text.contains("\\\r")
            case .strings: value == [:]
            case .gnustep, .toml: true
            case .json, .openstep: false
            }
        guard !isUnknown else { return true }
        var options = PropertyList.WritingOptions()
        options.writesJSON5 = true
        let written = Array(try value.serialized(as: format, options: options))
        if format == .json { return try tree(bytes) == tree(written) }
        return try read(bytes).isEqual(read(written))
    }

    private func read(_ bytes: [UInt8]) throws -> NSObject {
        try #require(PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? NSObject)
    }

    private func tree(_ bytes: [UInt8]) throws -> JSONTree {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        return try decoder.decode(JSONTree.self, from: Data(bytes))
    }
}

/// JSON as Foundation's decoder reads it.
private indirect enum JSONTree: Decodable, Equatable {
    case null, boolean(Bool), number(Double), text(String), list([JSONTree]), entries([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .list(value)
        } else {
            self = .entries(try container.decode([String: JSONTree].self))
        }
    }
}
