internal import Platform
internal import Preferences
internal import PropertyLists
internal import Screens
internal import Synchronization

/// Carries out the effects of a screen.
protocol ScreenActions {
    associatedtype Content: Screen

    /// Returns the events for what other processes have changed.
    mutating func changes() -> [Content.Event]

    mutating func perform(
        _ effect: Content.Effect, on terminal: any ScreenTerminal
    ) throws -> ScreenStep<Content.Event>
}

/// The result of an effect.
enum ScreenStep<Event> {
    case events([Event])
    /// The events of an effect in which another program used the terminal.
    case redrawn([Event])
    /// The effect failed, and the rest is dropped.
    case failed(Event)
    case finished(isComplete: Bool)
}

/// Runs a screen in a terminal: passes on keys, and has the effects carried out.
struct ScreenSession<Actions: ScreenActions> {
    private let terminal: any ScreenTerminal
    private var colors: Colors
    /// Whether the terminal is asked for its background.
    private let asks: Bool
    private(set) var content: Actions.Content
    private var actions: Actions
    /// The canvas that was written last.
    private var shown = Canvas(columns: 80, rows: 24)
    /// Whether the terminal still shows it.
    private var isShown = false
    /// The canvas that is drawn next.
    private var next = Canvas(columns: 80, rows: 24)

    init(_ content: Actions.Content, _ actions: Actions, on terminal: any ScreenTerminal, _ context: CommandContext) {
        (self.content, self.actions, self.terminal) = (content, actions, terminal)
        (colors, asks) = (context.colorsOfScreen, context.asksForBackground)
    }

    /// The way in which a session ended.
    enum End: Hashable, Sendable {
        case finished(isComplete: Bool)
        case interrupted(signal: Int32)
        /// The terminal was closed.
        case lost
    }

    /// Shows the screen until the user leaves it. The terminal is restored however this ends.
    mutating func run(_ first: [Actions.Content.Event] = []) throws -> End {
        try terminal.enter()
        defer { terminal.leave() }
        var parser = KeyParser()
        if asks { try terminal.write(Colors.question) }
        // An answer that came later would be typed into the shell.
        defer { if asks { awaitAnswer(&parser) } }
        var isComplete = try handle([resized()] + first)
        while true {
            if let isComplete { return .finished(isComplete: isComplete) }
            try paint()
            switch try terminal.next(milliseconds: parser.isWaiting ? KeyParser.escapeMilliseconds : content.pause) {
            case .bytes(let bytes):
                let presses = parser.take(bytes)
                if let reported = parser.reportedColors, reported != colors { (colors, isShown) = (reported, false) }
                isComplete = try handle(presses)
            case .timeout:
                if !parser.isWaiting { content.elapse() }
                isComplete = try handle(parser.flush())
            case .resized: isComplete = try handle([resized()])
            case .woken: isComplete = try handle(actions.changes())
            case .continued:
                try terminal.enter()
                isComplete = try redraw()
            case .suspended: isComplete = try suspend()
            case .endOfInput: return .lost
            case .ended(let signal): return .interrupted(signal: signal)
            }
        }
    }

    /// Waits until the terminal has answered, for a short time.
    private func awaitAnswer(_ parser: inout KeyParser) {
        for _ in 0..<10 where !parser.hasAnswered {
            guard case .bytes(let bytes)? = try? terminal.next(milliseconds: 100) else { return }
            _ = parser.take(bytes)
        }
    }

    /// Asks the terminal for its size, and returns the event that passes it on.
    private mutating func resized() -> Actions.Content.Event {
        let size = terminal.size
        next = Canvas(columns: size.columns, rows: size.rows)
        (shown, isShown) = (next, false)
        return .resized(columns: size.columns, rows: size.rows)
    }

    private mutating func suspend() throws -> Bool? {
        try terminal.suspend()
        return try redraw()
    }

    /// Draws all cells again. The contents of the terminal are unknown, and files may have changed.
    private mutating func redraw() throws -> Bool? {
        try handle([resized()] + actions.changes())
    }

    private mutating func paint() throws {
        next.clear()
        content.draw(on: &next)
        let update = next.update(from: isShown ? shown : nil, colors: colors)
        if !update.isEmpty { try terminal.write(update) }
        swap(&shown, &next)
        isShown = true
    }

    /// Handles keys. Control-Z and Control-L act on the terminal in every mode of the screen.
    private mutating func handle(_ presses: [KeyPress]) throws -> Bool? {
        for press in presses {
            if press.isControl("l") {
                isShown = false
            } else if let isComplete = try press.isControl("z") ? suspend() : handle(.key(press)) {
                return isComplete
            }
        }
        return nil
    }

    private mutating func handle(_ events: [Actions.Content.Event]) throws -> Bool? {
        for event in events {
            if let isComplete = try handle(event) { return isComplete }
        }
        return nil
    }

    /// Handles an event and all that follow from it, and returns how the screen was left, if it was. After a failure
    /// the rest is dropped, so that a form is not left with changes that are not saved.
    private mutating func handle(_ event: Actions.Content.Event) throws -> Bool? {
        for effect in content.handle(event) {
            var following: [Actions.Content.Event] = []
            switch try actions.perform(effect, on: terminal) {
            case .finished(let isComplete): return isComplete
            case .events(let events): following = events
            case .redrawn(let events): (following, isShown) = (events, false)
            case .failed(let event): return try handle(event)
            }
            if let isComplete = try handle(following) { return isComplete }
        }
        return nil
    }
}

extension StoreAccess {
    /// The keys of the screens by the setting `screenKeys`, and what is invalid in it.
    var keymap: (Keymap, problem: String?) {
        let changes = places.policy.screenKeys.map { entry in
            (entry.key, (entry.value.stringValue ?? "").split(separator: " ").map { String($0) })
        }
        guard !changes.isEmpty else { return (.standard, nil) }
        let (keymap, problems) = Keymap.changed(by: changes)
        return (keymap, problems.first.map { "screenKeys: \($0.onOneLine)" })
    }
}

extension ScreenTerminal {
    /// Leaves the screen while another program uses the terminal.
    func leavingScreen<Result>(_ body: () throws -> Result) throws -> Result {
        leave()
        let result = Swift.Result { try body() }
        try enter()
        return try result.get()
    }
}

extension Error {
    /// The message on one line.
    var asLine: String { ((self as? any Reportable)?.lines.joined(separator: "; ") ?? "\(self)").onOneLine }
}

extension CommandContext {
    /// Lets the user edit a value as a property list in an editor, until `accept` does not throw. Returns its result,
    /// or nil if the value is unchanged.
    func edited<Result>(
        _ value: PropertyList?, _ key: String, on terminal: any ScreenTerminal,
        _ accept: (PropertyList) throws -> Result
    ) throws -> Result? {
        var values = PropertyList.Dictionary()
        values[key] = value ?? ""
        let text = try EditedText(values, as: .json, isWrapped: true, named: "setting", self)
        return try terminal.leavingScreen {
            try text.removedAfterwards {
                try text.edited { values, _ in
                    guard let value = values[key], values.count == 1 else {
                        throw CommandFailure(.invalidValue, "\(text.file): the only key must be \(key.onOneLine)")
                    }
                    return try accept(value)
                }
            }
        }
    }

    /// Returns the files whose path begins with a text; folders end with a slash.
    func paths(beginningWith text: String) -> [String] {
        if text == "~" { return ["~/"] }
        let folderText = text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
        let start = text.dropFirst(folderText.count)
        guard let folder = try? absolutePath(folderText.isEmpty ? "." : folderText),
            let names = try? fileSystem.names(in: folder)
        else { return [] }
        // A field holds text, so it cannot name other files.
        return names.compactMap { String(validating: $0.bytes, as: UTF8.self) }.filter {
            $0.hasPrefix(start) && ($0.first != "." || start.first == ".")
        }
        .sorted().prefix(1000).map { name in
            let path = FilePath(name).map(folder.resolving) ?? folder
            let isFolder = (try? fileSystem.status(of: path))??.kind == .folder
            return folderText + name + (isFolder ? "/" : "")
        }
    }
}

extension CommandContext {
    /// Returns a context for a command that fills the screen, and the lines that would be written over it.
    func capturingErrors() -> (context: CommandContext, errors: CapturedErrors) {
        var copy = self
        let errors = CapturedErrors(system.terminal)
        copy.system.terminal = errors
        return (copy, errors)
    }
}

/// The streams of a command that fills the screen. Lines for standard error are kept instead of written.
final class CapturedErrors: Terminal {
    private let inner: any Terminal
    private let lines = Mutex<[String]>([])

    init(_ inner: any Terminal) { self.inner = inner }

    /// Returns the lines since the last call.
    @discardableResult
    func takeLines() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    func width(of stream: StandardStream) -> Int? { inner.width(of: stream) }

    func isTerminal(_ stream: StandardStream) -> Bool { inner.isTerminal(stream) }

    func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        guard stream == .errors else { return try inner.write(bytes, to: stream) }
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        lines.withLock { $0 += text.split(separator: "\n").map { String($0.trimmingPrefix("prefs: ")) } }
    }

    func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        try inner.input(from: descriptor, limit: limit)
    }

    func exit(_ status: Int32) throws(ProgramExit) -> Never { try inner.exit(status) }
}
