#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsOpenStep(_ options: WritingOptions, dialect: OpenStepDialect) throws(EncodingFailure) -> Data {
        var writer = OpenStepWriter(options, dialect: dialect)
        try writer.write(root: self)
        return writer.output.data()
    }
}

/// Writes the text format: an entry a line, four spaces a level, as GNUstep and Core Foundation set it out.
///
/// The containers that are open lie on a stack of its own, so that depth never meets the end of a thread's stack.
struct OpenStepWriter: ~Copyable {
    /// What is in the way of a value, before anybody asks at which entry it stands.
    struct Refusal: Error {
        let problem: EncodingFailure.Problem

        init(_ problem: EncodingFailure.Problem) { self.problem = problem }
    }

    private typealias Entries = ContiguousArray<PropertyList.Dictionary.Entry>

    /// A container of which some children are written.
    private struct Frame {
        var entries: Entries = []
        var elements: [PropertyList] = []
        let isDictionary: Bool
        /// The child that comes next.
        var next = 0
    }

    var output = OutputBuffer()
    let options: PropertyList.WritingOptions
    let dialect: PropertyList.OpenStepDialect
    private var open: [Frame] = []

    init(_ options: PropertyList.WritingOptions, dialect: PropertyList.OpenStepDialect) {
        self.options = options
        self.dialect = dialect
    }

    mutating func write(root: PropertyList) throws(EncodingFailure) {
        do throws(Refusal) {
            try begin(root)
            while !open.isEmpty {
                let last = open.count - 1
                if let child = try open[last].isDictionary ? writeEntries() : writeElements() {
                    try begin(child)
                } else {
                    end()
                }
            }
            output.append(UInt8(ascii: "\n"))
        } catch {
            throw EncodingFailure(error.problem, path: path, format: dialect.format)
        }
    }

    /// Writes a scalar, or opens a container and its frame.
    private mutating func begin(_ value: PropertyList) throws(Refusal) {
        guard value.isContainer else { return try write(scalar: value) }
        guard open.count < options.nesting else { throw Refusal(.nestedTooDeeply(limit: options.nesting)) }
        switch value {
        case .array(let elements):
            output.append("(\n")
            open.append(Frame(elements: elements, isDictionary: false))
        case .dictionary(let dictionary):
            if dialect == .gnustep, dictionary.uidItStandsFor != nil { throw Refusal(.looksLike(.uid)) }
            output.append("{\n")
            let entries = options.keepsKeyOrder ? dictionary.entries : dictionary.sortedEntries
            open.append(Frame(entries: entries, isDictionary: true))
        default: break
        }
    }

    private mutating func end() {
        let frame = open.removeLast()
        indent(open.count)
        output.append(UInt8(ascii: frame.isDictionary ? "}" : ")"))
        closeChild()
    }

    /// Ends the line of the child that was written last.
    private mutating func closeChild() {
        guard let parent = open.last else { return }
        if parent.isDictionary {
            output.append(";\n")
        } else {
            output.append(parent.next < parent.elements.count ? ",\n" : "\n")
        }
    }

    /// Writes entries up to one that is a container, whose key it writes and which it gives back.
    private mutating func writeEntries() throws(Refusal) -> PropertyList? {
        let level = open.count
        var frame = open[level - 1]
        defer { open[level - 1].next = frame.next }
        while frame.next < frame.entries.count {
            let at = frame.next
            frame.next += 1
            indent(level)
            write(text: frame.entries[at].key)
            output.append(" = ")
            if frame.entries[at].value.isContainer { return frame.entries[at].value }
            try write(scalar: frame.entries[at].value)
            output.append(";\n")
        }
        return nil
    }

    /// Writes elements up to one that is a container, which it gives back.
    private mutating func writeElements() throws(Refusal) -> PropertyList? {
        let level = open.count
        var frame = open[level - 1]
        defer { open[level - 1].next = frame.next }
        while frame.next < frame.elements.count {
            let at = frame.next
            frame.next += 1
            indent(level)
            if frame.elements[at].isContainer { return frame.elements[at] }
            try write(scalar: frame.elements[at])
            output.append(frame.next < frame.elements.count ? ",\n" : "\n")
        }
        return nil
    }

    @inline(__always)
    private mutating func indent(_ level: Int) {
        output.append(repeating: 0x20, count: level * 4)
    }

    /// The way to the entry that is being written.
    private var path: EntryPath {
        EntryPath(open.compactMap { frame in
            guard frame.next > 0 else { return nil }
            return frame.isDictionary
                ? EntryPath.Component(frame.entries[frame.next - 1].key) : EntryPath.Component(frame.next - 1)
        })
    }
}
