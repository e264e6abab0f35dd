import Foundation

/// A Swift source whose code and comments can be searched separately, without the text of string literals.
struct SourceFile {
    let path: String
    /// The whole source as a C string, and therefore without NUL bytes.
    private let whole: [CChar]
    /// The source with comments and string literals blanked out, line by line.
    let code: [String]
    /// The source with all but its comments blanked out, line by line.
    let comments: [String]

    init(_ path: String, _ bytes: [UInt8]) {
        self.path = path
        whole = bytes.map { $0 == 0 ? 1 : CChar(bitPattern: $0) } + [0]
        var splitter = Splitter(bytes)
        splitter.split()
        code = Self.lines(splitter.code)
        comments = Self.lines(splitter.comments)
    }

    /// Creates a file in any language, whose whole text is searched as code.
    init(plainText bytes: [UInt8], at path: String) {
        self.path = path
        whole = bytes.map { $0 == 0 ? 1 : CChar(bitPattern: $0) } + [0]
        code = Self.lines(bytes)
        comments = code.map { _ in "" }
    }

    init(_ path: String, _ text: String) { self.init(path, [UInt8](text.utf8)) }

    /// Whether the source contains a text. This is fast, and decides most rules.
    func mentions(_ text: String) -> Bool { strstr(whole, text) != nil }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Separates code, comments and string literals. Regex literals and `#sourceLocation` are not supported.
private struct Splitter {
    private let source: [UInt8]
    private var at = 0
    private(set) var code: [UInt8]
    private(set) var comments: [UInt8]

    init(_ source: [UInt8]) {
        self.source = source
        code = source.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
        comments = code
    }

    mutating func split() { while at < source.count { takeCode(untilParenthesis: false) } }

    private func sees(_ text: StaticString, at place: Int? = nil) -> Bool {
        let place = place ?? at
        let count = text.utf8CodeUnitCount
        guard place + count <= source.count, source[place] == text.utf8Start[0] else { return false }
        return (0..<count).allSatisfy { source[place + $0] == text.utf8Start[$0] }
    }

    /// Reads code up to the end, or up to the parenthesis that closes an interpolation.
    private mutating func takeCode(untilParenthesis: Bool) {
        var depth = 0
        while at < source.count {
            if sees("//") {
                takeComment { $0.sees("\n") }
            } else if sees("/*") {
                takeBlockComment()
            } else if let pounds = poundsOfString {
                takeString(pounds: pounds)
            } else if sees("`") {
                takeName()
            } else {
                if sees("(") { depth += 1 }
                if sees(")") { depth -= 1 }
                if untilParenthesis, depth < 0 { return }
                code[at] = source[at]
                at += 1
            }
        }
    }

    private mutating func takeComment(until isOver: (Splitter) -> Bool) {
        while at < source.count, !isOver(self) {
            comments[at] = source[at]
            at += 1
        }
    }

    private mutating func takeBlockComment() {
        var depth = 0
        repeat {
            if sees("/*") { depth += 1 }
            if sees("*/") { depth -= 1 }
            comments[at] = source[at]
            at += 1
        } while at < source.count && depth > 0
    }

    /// A name in backquotes may contain any text, and is blank in both views.
    private mutating func takeName() {
        at += 1
        while at < source.count, !sees("`"), !sees("\n") { at += 1 }
        at += 1
    }

    /// The number of number signs before the quote here, or nil if no string starts here.
    private var poundsOfString: Int? {
        guard source[at] == UInt8(ascii: "#") || source[at] == UInt8(ascii: "\"") else { return nil }
        let pounds = source[at...].prefix { $0 == UInt8(ascii: "#") }.count
        return sees("\"", at: at + pounds) ? pounds : nil
    }

    private mutating func takeString(pounds: Int) {
        at += pounds
        let isLong = sees("\"\"\"")
        at += isLong ? 3 : 1
        while at < source.count {
            if sees("\\"), hasPounds(pounds, at: at + 1) {
                at += 1 + pounds
                if sees("(") {
                    at += 1
                    takeCode(untilParenthesis: true)
                }
                at += 1
            } else if isLong ? sees("\"\"\"") : sees("\""), hasPounds(pounds, at: at + (isLong ? 3 : 1)) {
                at += (isLong ? 3 : 1) + pounds
                return
            } else if !isLong, sees("\n") {
                return
            } else {
                at += 1
            }
        }
    }

    private func hasPounds(_ count: Int, at place: Int) -> Bool {
        place + count <= source.count && source[place..<place + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}
