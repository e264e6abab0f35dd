internal import Platform
internal import PropertyLists

/// The streams of a command. On a terminal, control characters are escaped.
///
/// Values, keys and names can come from anyone and could otherwise control the terminal. Files and pipes receive all
/// bytes unchanged.
struct EscapingTerminal: Terminal {
    /// The unescaped streams, for cursor control.
    let inner: any Terminal

    init(_ inner: any Terminal) { self.inner = inner }

    func width(of stream: StandardStream) -> Int? { inner.width(of: stream) }

    func isTerminal(_ stream: StandardStream) -> Bool { inner.isTerminal(stream) }

    func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        guard isTerminal(stream) else { return try inner.write(bytes, to: stream) }
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        try inner.write(text.visible, to: stream)
    }

    func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        try inner.input(from: descriptor, limit: limit)
    }

    func exit(_ status: Int32) throws(ProgramExit) -> Never { try inner.exit(status) }
}

extension String {
    /// The text with invisible characters escaped, other than newlines and tabs. Control characters, and those that
    /// change the direction or the shape of others, are written as in a string literal: `\u{1B}`.
    var visible: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isInvisible {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
