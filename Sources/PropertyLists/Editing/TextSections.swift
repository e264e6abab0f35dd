/// The lines of a text whose dictionaries are sections with headers.
struct TextSections: Sendable {
    /// How a dictionary is written.
    enum Kind: Sendable {
        /// With a header of its own, or the root.
        case header
        /// Only in the headers of dictionaries inside it.
        case implicit
        /// Only in the keys of its entries.
        case dotted
        /// In braces.
        case inline
    }

    /// A header, or a key with its value.
    struct Line: Sendable {
        enum Kind: Sendable {
            case entry, header
            /// The header of an element of an array.
            case element
        }

        let kind: Kind
        /// The ranges of the parts of the key.
        let keys: [Range<Int>]
        /// The range of the header, or of the key and the value.
        let range: Range<Int>
        /// The positions of the entries that the parts of the key denote.
        let path: [Int]
        /// The position of the dictionary that a header opens, or of the entry.
        let position: Int
    }

    /// The lines in the order of the text.
    let lines: [Line]
    /// The comments in the order of the text.
    let comments: [Range<Int>]
    /// The kinds of the dictionaries, by their positions.
    let kinds: [Int: Kind]
    /// The indices of the lines in the order of their positions.
    private let order: [Int]

    init(lines: [Line], comments: [Range<Int>], kinds: [Int: Kind]) {
        (self.lines, self.comments, self.kinds) = (lines, comments, kinds)
        order = lines.indices.sorted { (lines[$0].position, $0) < (lines[$1].position, $1) }
    }

    /// The indices of the lines whose positions are in a range, in the order of the text.
    func lines(in positions: Range<Int>) -> [Int] {
        func first(from position: Int) -> Int {
            var (low, high) = (0, order.count)
            while low < high {
                let middle = (low + high) / 2
                if lines[order[middle]].position < position { low = middle + 1 } else { high = middle }
            }
            return low
        }
        return order[first(from: positions.lowerBound)..<first(from: positions.upperBound)].sorted()
    }

    func mapped(_ range: (Range<Int>) -> Range<Int>) -> TextSections {
        TextSections(
            lines: lines.map { line in
                Line(
                    kind: line.kind, keys: line.keys.map(range), range: range(line.range), path: line.path,
                    position: line.position)
            },
            comments: comments.map(range), kinds: kinds)
    }
}
