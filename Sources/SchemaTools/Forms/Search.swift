package import PropertyLists
internal import SettingsSchema

/// What a user searches for: words that a row contains in any order, and states that it has.
package struct SearchQuery: Hashable, Sendable {
    /// Folded by `append(folded:)`.
    fileprivate let words: [[UInt8]]
    fileprivate let states: RowStates
    /// The beginnings of names of layers.
    fileprivate let layers: [String]
    /// Words such as `@forcd` that name no state.
    package let unknown: [String]

    package init(_ text: String) {
        var (words, states, layers, unknown) = ([[UInt8]](), RowStates(), [String](), [String]())
        for (isLast, word) in text.split(whereSeparator: \.isWhitespace).enumeratedFromEnd {
            if !word.hasPrefix("@") {
                var (folded, starts) = ([UInt8](), [Bool]())
                String(word).appendFolded(to: &folded, &starts)
                words.append(folded)
            } else if word.hasPrefix(Self.layerMark) {
                layers.append(word.dropFirst(Self.layerMark.count).lowercased())
            } else if let (_, state) = RowStates.names.first(where: { $0.name == word.lowercased() }) {
                states.insert(state)
            } else if !isLast || !Self.marks.contains(where: { $0.hasPrefix(word.lowercased()) }) {
                unknown.append(String(word))
            }
        }
        (self.words, self.states, self.layers, self.unknown) = (words, states, layers, unknown)
    }

    private static let layerMark = "@layer:"
    /// The words that restrict a search to a state or layer.
    package static let marks = RowStates.names.map(\.name) + [layerMark]

    package static var markList: String { marks.joined(separator: ", ") + "NAME" }

    package static let noMatch = "Nothing matches. Esc shows all."

    /// The explanation of a word that names no state; nil if there is none.
    package var unknownText: String? {
        unknown.first.map { "No filter is named \($0). Filters are \(Self.markList)." }
    }

    /// Whether all rows match.
    package var isEmpty: Bool { words.isEmpty && states.isEmpty && layers.isEmpty && unknown.isEmpty }

    /// Whether only rows that match another query can match.
    fileprivate func narrows(_ other: SearchQuery) -> Bool {
        other.unknown.isEmpty && states.isSuperset(of: other.states) && words.count >= other.words.count
            && layers.count >= other.layers.count
            && zip(words, other.words).allSatisfy { $0.starts(with: $1) }
            && zip(layers, other.layers).allSatisfy { $0.hasPrefix($1) }
    }
}

/// States of a row that a search can ask for.
package struct RowStates: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The row has a value of the user.
    package static let modified = RowStates(rawValue: 1)
    package static let forced = RowStates(rawValue: 2)
    package static let conflict = RowStates(rawValue: 4)
    package static let secret = RowStates(rawValue: 8)

    static let names: [(name: String, state: RowStates)] = [
        ("@modified", .modified), ("@forced", .forced), ("@conflict", .conflict), ("@secret", .secret),
    ]
}

/// The texts of rows, as a search reads them.
///
/// A word matches a row if the names or texts of the row contain it, or if its letters begin or continue words of the
/// names, as `fs` or `fntsz` does for `fontSize`. Matches at the beginning of a word rank above others, names rank
/// above texts, and rows of one rank keep their order.
package struct SearchIndex: Sendable {
    private struct Row: Sendable {
        let start: Int32
        /// The end of the names, after which the texts follow.
        let names: Int32
        let end: Int32
        let states: RowStates
        /// The index of the layer's name.
        let layer: UInt8
    }

    private var rows: [Row] = []
    /// The names and texts of all rows, folded, each with a line feed after it.
    private var bytes: [UInt8] = []
    /// Whether a word begins at a byte.
    private var starts: [Bool] = []
    private var layers: [String] = []
    /// The rows that matched the last query, in their order.
    private var latest: (query: SearchQuery, rows: [Int32])?

    /// The bytes of one text that are searched.
    private static let textLimit = 256

    package init() {}

    package mutating func append(names: [String], texts: [String], states: RowStates = [], layer: String = "") {
        let start = bytes.count
        for name in names { append(name) }
        let end = bytes.count
        for text in texts { append(text) }
        if !layers.contains(exactly: layer) { layers.append(layer) }
        let number = layers.firstIndex(exactly: layer) ?? 0
        rows.append(
            Row(
                start: Int32(start), names: Int32(end), end: Int32(bytes.count), states: states,
                layer: UInt8(clamping: number)))
    }

    private mutating func append(_ text: String) {
        let isShort = text.utf8.count <= Self.textLimit
        (isShort ? text : String(text.prefix(Self.textLimit))).appendFolded(to: &bytes, &starts)
        bytes.append(UInt8(ascii: "\n"))
        starts.append(false)
    }

    /// Returns the indices of the rows that match a query, the best first.
    package mutating func matches(_ query: SearchQuery) -> [Int] {
        guard query.unknown.isEmpty else { return [] }
        var ranked: [UInt64] = []
        if let latest, query.narrows(latest.query) {
            append(latest.rows.lazy.map { Int($0) }, query, to: &ranked)
        } else {
            append(rows.indices, query, to: &ranked)
        }
        latest = (query, ranked.map { Int32(truncatingIfNeeded: $0 & 0xFFFF_FFFF) })
        ranked.sort()
        return ranked.map { Int($0 & 0xFFFF_FFFF) }
    }

    /// Appends the rows that match a query: for each, how much its rank is below the best one, and its index, in one
    /// number, so that one sort orders by both.
    private func append(_ indices: some Sequence<Int>, _ query: SearchQuery, to ranked: inout [UInt64]) {
        let allowed = layers.map { layer in query.layers.allSatisfy { layer.lowercased().hasPrefix($0) } }
        let (bytes, starts) = (bytes.span, starts.span)
        rows: for index in indices {
            let row = rows[index]
            guard row.states.isSuperset(of: query.states), allowed[Int(row.layer)] else { continue }
            var rank = 0
            for word in query.words {
                let found = Self.rank(of: word.span, in: row, bytes, starts)
                guard found > 0 else { continue rows }
                rank += found
            }
            ranked.append(UInt64(UInt32.max - UInt32(clamping: rank)) << 32 | UInt64(index))
        }
    }

    /// Returns the rank of a word in a row; 0 if it does not match.
    private static func rank(
        of word: Span<UInt8>, in row: Row, _ bytes: borrowing Span<UInt8>, _ starts: borrowing Span<Bool>
    ) -> Int {
        let (start, names, end) = (Int(row.start), Int(row.names), Int(row.end))
        switch containment(of: word, in: start..<names, bytes, starts) {
        case .atWord(let isWhole): return isWhole ? 90 : 80
        case .inside: return 60
        case nil: break
        }
        let letters = lettersRank(of: word, in: start..<names, bytes, starts)
        if letters == 50 { return letters }
        switch containment(of: word, in: names..<end, bytes, starts) {
        case .atWord: return 40
        case .inside: return 25
        case nil: return letters
        }
    }

    private enum Containment { case atWord(isWhole: Bool), inside }

    /// Returns how a range of bytes contains a word.
    private static func containment(
        of word: Span<UInt8>, in range: Range<Int>, _ bytes: borrowing Span<UInt8>, _ starts: borrowing Span<Bool>
    ) -> Containment? {
        let (first, count) = (word[0], word.count)
        var (at, found) = (range.lowerBound, Containment?.none)
        while at + count <= range.upperBound {
            guard bytes[at] == first else {
                at += 1
                continue
            }
            var length = 1
            while length < count, bytes[at + length] == word[length] { length += 1 }
            if length == count {
                if starts[at] {
                    let next = at + count
                    let isWhole = next == range.upperBound || starts[next] || !bytes[next].continuesWord
                    if isWhole { return .atWord(isWhole: true) }
                    found = .atWord(isWhole: false)
                } else if found == nil {
                    found = .inside
                }
            }
            at += 1
        }
        return found
    }

    /// Returns the rank of a word whose letters begin words of the names, follow each other, or follow in the same word
    /// of the names; 0 if they do not.
    private static func lettersRank(
        of word: Span<UInt8>, in range: Range<Int>, _ bytes: borrowing Span<UInt8>, _ starts: borrowing Span<Bool>
    ) -> Int {
        guard word.count > 1 else { return 0 }
        var best = 0
        for start in range where starts[start] && bytes[start] == word[0] {
            for prefersStarts in [true, false] {
                // Each letter is looked up after the one before it, so a longer word never matches where a shorter one
                // does not.
                var (at, next, isExact) = (start, 1, true)
                while next < word.count {
                    guard
                        let place = place(
                            of: word[next], after: at, to: range.upperBound, prefersStarts: prefersStarts, bytes, starts
                        )
                    else { break }
                    if place > at + 1, !starts[place] { isExact = false }
                    (at, next) = (place, next + 1)
                }
                if next == word.count { best = max(best, isExact ? 50 : 15) }
            }
        }
        return best
    }

    /// Returns where a letter follows another one: at the beginning of a word of the same text, or in the same word.
    private static func place(
        of letter: UInt8, after previous: Int, to end: Int, prefersStarts: Bool, _ bytes: borrowing Span<UInt8>,
        _ starts: borrowing Span<Bool>
    ) -> Int? {
        var (at, hasLeftWord, inWord) = (previous + 1, false, Int?.none)
        while at < end, bytes[at] != UInt8(ascii: "\n") {
            if starts[at] || !bytes[at].continuesWord { hasLeftWord = true }
            if bytes[at] == letter {
                if starts[at] { return at }
                if !hasLeftWord, inWord == nil {
                    // The next letter of the word is the best place in any case.
                    guard prefersStarts, at > previous + 1 else { return at }
                    inWord = at
                }
            }
            at += 1
        }
        return inWord
    }
}

extension Form {
    /// Returns the controls that match a search, the best first, as indices.
    package func matches(_ query: SearchQuery, in controls: [Control], conflicts: Set<Name> = []) -> [Int] {
        var index = SearchIndex()
        for control in controls {
            let setting = control.setting
            var states = RowStates()
            if isChanged(control.key) || hasUserValue(control.key) { states.insert(.modified) }
            if control.isForced { states.insert(.forced) }
            if control.kind == .secret { states.insert(.secret) }
            if conflicts.contains(Name(control.key)) || mirrorConflicts[Name(control.key)] != nil {
                states.insert(.conflict)
            }
            index.append(
                names: [control.title, control.key] + setting.flagUsage,
                texts: [setting.summary ?? "", setting.group ?? "", shownValue(of: control.key) ?? ""]
                    + setting.rule.choices.map(control.shownText),
                states: states, layer: value(of: control.key)?.layer.description ?? "")
        }
        return index.matches(query)
    }
}

extension UInt8 {
    /// Whether the byte of a folded text continues a word.
    fileprivate var continuesWord: Bool {
        self >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self || UInt8(ascii: "0")...UInt8(ascii: "9") ~= self
    }
}

extension String {
    /// Appends the text in lowercase, and for each byte whether a word begins there: after a separator, or as the
    /// capital letter in `fontSize`.
    fileprivate func appendFolded(to bytes: inout [UInt8], _ starts: inout [Bool]) {
        guard utf8.allSatisfy({ $0 < 0x80 }) else {
            var wasWord = false
            for byte in lowercased().utf8 {
                bytes.append(byte == UInt8(ascii: "\n") ? UInt8(ascii: " ") : byte)
                starts.append(byte.continuesWord && !wasWord)
                wasWord = byte.continuesWord
            }
            return
        }
        var previous = UInt8(ascii: " ")
        for byte in utf8 {
            let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            let folded = isCapital ? byte | 0x20 : byte == UInt8(ascii: "\n") ? UInt8(ascii: " ") : byte
            bytes.append(folded)
            // The previous byte is not folded, so that `URL` is one word.
            let wasLower = previous.continuesWord
            let wasWord = wasLower || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= previous
            starts.append(folded.continuesWord && (!wasWord || isCapital && wasLower))
            previous = byte
        }
    }
}

extension Array {
    /// The elements, each with whether it is the last one.
    fileprivate var enumeratedFromEnd: [(isLast: Bool, element: Element)] {
        indices.map { ($0 == count - 1, self[$0]) }
    }
}
