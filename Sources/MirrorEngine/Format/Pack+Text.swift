internal import PropertyLists

/// The contents of a file of a mirror as readable text, one fact per line.
extension Pack {
    package var lines: [String] {
        let head = ["file \(address)", "mirror \(mirror)", "hash \(hash)", "bytes \(size)"]
        switch content {
        case .log(let log): return head + log.lines
        case .base(let base): return head + base.lines
        case .note(let note): return head + note.lines
        }
    }
}

extension LogPack {
    fileprivate var lines: [String] {
        var lines = ["log of \(writer), transactions \(first) to \(last)"]
        lines.append("previous \(previous?.description ?? "none")")
        lines.append("knows more: \(knowledge.map(\.description).joined(separator: " "))")
        for (sequence, entry) in zip(first..., transactions) {
            lines.append("transaction \(sequence) at \(entry.stamp)")
            for write in entry.writes {
                let later = write.stamp == entry.stamp ? "" : " at \(write.stamp)"
                lines.append("    \(write.path) = \(write.value)\(later) as \(write.id)\(write.seen.words)")
            }
        }
        return lines
    }
}

extension BasePack {
    fileprivate var lines: [String] {
        var lines = ["base of \(writer) as of \(last)", "anchor \(anchor?.description ?? "none")"]
        lines.append("knows \(knowledge)")
        for write in writes {
            let text = "\(write.path) = \(write.value) at \(write.stamp) by \(write.transactionID) as \(write.id)"
            lines.append("    \(text)\(write.seen.words)")
        }
        return lines
    }
}

extension WriterNote {
    fileprivate var lines: [String] {
        [
            "note \(number) of \(writer)", "label \(EntryPath([.init(label)]))",
            "platform \(EntryPath([.init(platform)]))",
            "software \(EntryPath([.init(software)]))", hasLeft ? "has left" : "active",
        ]
    }
}

extension WrittenValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .deleted: return "deleted"
        case .left: return "left to each host"
        case .value(let value):
            // Data and long strings would hide the rest.
            let text = try? value.propertyList.serialized(as: .json, options: .oneLine)
            guard let text, let line = String(validating: text, as: UTF8.self) else {
                return "\(value.bytes.count) bytes"
            }
            return line.utf8.count <= 500 ? line : "\(value.bytes.count) bytes"
        }
    }
}

extension PropertyList.WritingOptions {
    fileprivate static var oneLine: Self {
        var options = Self.default
        options.wrapsInJSON = true
        return options
    }
}

extension Stamp: CustomStringConvertible {
    package var description: String { "\(milliseconds).\(number & 0xFFFF)" }
}

extension WriteID: CustomStringConvertible {
    package var description: String { Base32.text(number, bits: 64) }
}

extension [ReplacedWrite] {
    fileprivate var words: String { isEmpty ? "" : " over " + map(\.id.description).joined(separator: " ") }
}
