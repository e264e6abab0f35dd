/// A fenced block of a Markdown text.
package struct MarkdownBlock: Sendable {
    /// The text after the opening fence, such as `sh`.
    package let language: String
    /// The line number of the opening fence, counted from 1.
    package let line: Int
    package fileprivate(set) var lines: [String] = []

    /// Returns the blocks of a text, in order.
    package static func all(in text: String) -> [MarkdownBlock] {
        var blocks: [MarkdownBlock] = []
        var isOpen = false
        for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
            if line.hasPrefix("```") {
                isOpen.toggle()
                if isOpen { blocks.append(MarkdownBlock(language: String(line.dropFirst(3)), line: number)) }
            } else if isOpen {
                blocks[blocks.count - 1].lines.append(String(line))
            }
        }
        return blocks
    }
}
