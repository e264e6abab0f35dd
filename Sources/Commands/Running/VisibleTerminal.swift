internal import Platform

/// The streams of a command, on which a terminal is given nothing that it would obey instead of showing it.
///
/// Values, keys and names may come from anybody. To a file or a pipe all bytes go as they are.
struct VisibleTerminal: Terminal {
    /// The streams themselves, for what moves the cursor on purpose.
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
    /// The text, in which all but the ends of lines and tabs can be seen: control characters and those that change the
    /// direction or the form of others stand as a string literal has them, `\u{1B}`.
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

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 && self != "\n" && self != "\t" }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
