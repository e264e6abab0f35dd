internal import PropertyLists
internal import SimulatedPlatform

/// Texts that are edited in place.
extension Target {
    /// The first byte of the input selects the syntax, the next eight the edits, and the rest is the text.
    func checkEdit(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        guard bytes.count > 9 else { return }
        let syntax = bytes[0] % 7
        let format: PropertyList.Format = [.xml, .json, .json, .openstep, .gnustep, .json, .toml][Int(syntax)]
        let isDomain = syntax == 5
        let options = PropertyList.ReadingOptions(
            unwrapsJSON: isDomain, allowsJSON5: syntax == 2)
        let seed = bytes[1...8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let text = Array(bytes[9...])
        guard text.count <= 1 << 14, let source = try? SourceText(text, as: format, options: options) else { return }
        var edits = RandomEdits(Randomness(seed: seed))
        var value = source.value
        for _ in 0...(seed % 4) { edits.change(&value) }
        var writing = PropertyList.WritingOptions()
        writing.wrapsInJSON = isDomain
        let result: [UInt8]
        do throws(EncodingFailure) {
            result = try source.edited(to: value, options: writing).bytes
        } catch {
            // The format may not support a value of the edit. If it does, the edit must succeed.
            guard error.problem != .notKept else { throw BrokenProperty(self, "another value is read after an edit") }
            return
        }
        guard (try? PropertyList(parsing: result, as: format, options: options)) == value else {
            throw BrokenProperty(self, "another value is read after an edit")
        }
        guard (try? source.edited(to: source.value))?.bytes == text else {
            throw BrokenProperty(self, "no edit changes the bytes")
        }
    }
}

/// Random changes of a value.
private struct RandomEdits {
    private var randomness: Randomness

    init(_ randomness: Randomness) { self.randomness = randomness }

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &randomness) }

    mutating func change(_ value: inout PropertyList) {
        switch value {
        case .dictionary(var entries) where !entries.isEmpty:
            let entry = entries[number(entries.count)]
            switch number(8) {
            case 0: entries[entry.key] = nil
            case 1:
                entries[entry.key] = nil
                entries[text()] = entry.value
            case 2: entries[text()] = scalar()
            default:
                var inner = entry.value
                change(&inner)
                entries[entry.key] = inner
            }
            value = .dictionary(entries)
        case .dictionary: value = .dictionary([text(): scalar()])
        case .array(var elements):
            let index = number(elements.count + 1)
            switch number(6) {
            case 0: elements.insert(scalar(), at: index)
            case 1 where index < elements.count: elements.remove(at: index)
            default: if index < elements.count { change(&elements[index]) }
            }
            value = .array(elements)
        default: value = scalar()
        }
    }

    private mutating func text() -> String {
        ["a", "z", "", "$date", "it's \"é\"", "/x", "*/", "-->", "]]>", "\n", "true", "12", "CF$UID"][number(13)]
    }

    private mutating func scalar() -> PropertyList {
        switch number(6) {
        case 0: .integer(PropertyList.Integer(Int64(number(1000)) - 500))
        case 1: .boolean(true)
        case 2: .array([.string(text()), .dictionary([text(): .string(text())])])
        case 3: .dictionary([:])
        default: .string(text())
        }
    }
}
