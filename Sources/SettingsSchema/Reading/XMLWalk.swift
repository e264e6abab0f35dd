internal import PropertyLists

/// A scanner that locates entries in an XML property list.
struct XMLWalk {
    private let bytes: [UInt8]
    private var at: Int

    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        at = start
    }

    private struct Tag {
        let name: String
        let place: Int
        var isEnd = false
        var isEmpty = false
    }

    /// Scans the whole text.
    mutating func walk(_ search: inout EntrySearch) {
        guard var tag = nextTag() else { return }
        if tag.name == "plist", let inner = nextTag() { tag = inner }
        search.begin(at: tag.place)
        walk(tag, &search)
    }

    /// Scans an element whose start tag has been read.
    private mutating func walk(_ container: Tag, _ search: inout EntrySearch) {
        guard !container.isEmpty, container.name == "dict" || container.name == "array" else { return skip(container) }
        var index = 0
        while let tag = nextTag(), !tag.isEnd {
            var (value, key) = (tag, String(index))
            if container.name == "dict" {
                key = textBehindTag()
                guard nextTag() != nil, let inner = nextTag() else { return }
                value = inner
            }
            if !search.meet(EntryPath.Component(key), at: tag.place, inside: { walk(value, &$0) }) { skip(value) }
            index += 1
        }
    }

    /// Skips past the end of an element whose start tag has been read.
    private mutating func skip(_ element: Tag) {
        guard !element.isEmpty else { return }
        var depth = 1
        while depth > 0, let tag = nextTag() {
            if tag.isEnd { depth -= 1 } else if !tag.isEmpty { depth += 1 }
        }
    }

    /// Returns the next element tag, skipping text, comments and declarations.
    private mutating func nextTag() -> Tag? {
        while let place = bytes[min(at, bytes.count)...].firstIndex(of: UInt8(ascii: "<")) {
            at = place
            if skipSpecial("<!--", "-->") || skipSpecial("<![CDATA[", "]]>") || skipSpecial("<?", "?>")
                || skipSpecial("<!", ">")
            {
                continue
            }
            let end = bytes[place...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count
            at = min(end + 1, bytes.count)
            let inside = bytes[place..<end].dropFirst()
            let isEnd = inside.first == UInt8(ascii: "/")
            let name = (isEnd ? inside.dropFirst() : inside).prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
            return Tag(
                name: String(decoding: name, as: UTF8.self), place: place, isEnd: isEnd,
                isEmpty: inside.last == UInt8(ascii: "/"))
        }
        return nil
    }

    private mutating func skipSpecial(_ opening: String, _ closing: String) -> Bool {
        guard bytes[at...].starts(with: opening.utf8) else { return false }
        at += opening.utf8.count
        while at < bytes.count, !bytes[at...].starts(with: closing.utf8) { at += 1 }
        at = min(at + closing.utf8.count, bytes.count)
        return true
    }

    /// Returns the text up to the next tag. Entities are not decoded: attribute names and keys of settings contain
    /// none.
    private func textBehindTag() -> String {
        String(decoding: bytes[min(at, bytes.count)...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self)
    }
}
