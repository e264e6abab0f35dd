internal import Platform
internal import PropertyLists
internal import Screens

/// Text whose parts have styles on a terminal.
///
/// The styles add no characters, so that the text is the same without them.
struct StyledText: Sendable {
    private(set) var parts: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = Style()) { append(text, style) }

    mutating func append(_ text: String, _ style: Style = Style()) {
        if !text.isEmpty { parts.append((text, style)) }
    }

    mutating func append(_ other: StyledText) { parts += other.parts }

    /// The text without styles.
    var plain: String { parts.map(\.text).joined() }

    /// Returns the beginning of a line. Its first part keeps its style if it is all there.
    func shortened(to length: Int) -> StyledText {
        let (plain, short) = (plain, PropertyLists.shortened(plain, to: length))
        guard short != plain else { return self }
        guard let first = parts.first, short.hasPrefix(first.text) else { return StyledText(short) }
        var result = StyledText(first.text, first.style)
        result.append(String(short.dropFirst(first.text.count)))
        return result
    }

    /// The text with the sequences that select its styles. The text itself controls no terminal.
    fileprivate func text(in colors: Colors) -> String {
        parts.map { text, style in
            style == Style() ? text.visible : style.sequence(in: colors) + text.visible + Style.end
        }.joined()
    }
}

extension CommandContext {
    /// The colors of the terminal to which the output is printed; nil for output without styles.
    var colorsOfOutput: Colors? {
        guard terminal.isTerminal(.output), !isMonochrome, hasColors else { return nil }
        // The color sets are of the 216 colors that a terminal has if it has 256.
        return has256Colors ? colorsOfBackground ?? Colors.none : Colors.none
    }

    /// The colors of a screen. Without colors, it has other attributes.
    var colorsOfScreen: Colors {
        guard hasColors, !isMonochrome else { return .none }
        return has256Colors ? colorsOfBackground ?? .own : .own
    }

    /// Whether a screen has colors that depend on the background, which is unknown.
    var asksForBackground: Bool {
        hasColors && !isMonochrome && has256Colors && colorsOfBackground == nil
    }

    private var hasColors: Bool { variable(.noColor).isEmpty }

    /// Whether the terminal is known to have no colors.
    private var isMonochrome: Bool {
        let kind = variable(.terminalKind)
        return kind.isEmpty || kind == "dumb" || kind.hasPrefix("vt") || kind.hasSuffix("-mono") || kind.hasSuffix("-m")
    }

    private var has256Colors: Bool {
        let kind = variable(.terminalKind)
        return kind.contains("256color") || kind.contains("direct")
            || ["truecolor", "24bit"].contains(variable(.colorsOfTerminal))
    }

    private var colorsOfBackground: Colors? { Colors(statedBy: variable(.background)) }

    private func variable(_ variable: Variable) -> String { environment.variables[variable.rawValue] ?? "" }

    /// Prints a text, with its styles on a terminal that has them.
    func print(_ text: StyledText) throws {
        guard let colors = colorsOfOutput else { return try terminal.write(text.plain, to: .output) }
        try writeUnescaped(text.text(in: colors))
    }

    /// Prints lines, to which line breaks are added.
    func print(lines: [StyledText]) throws {
        var text = StyledText()
        for line in lines {
            text.append(line)
            text.append("\n")
        }
        try print(text)
    }
}
