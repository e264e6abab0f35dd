/// A reader of one of the text formats, made for one text.
protocol TextReader: ~Copyable {
    mutating func read() throws(Fault) -> PropertyList
    /// The way to the entry that is being read, or at fault.
    var path: EntryPath { get }
}

extension DecodedText {
    /// Reads the text with a reader that `makeReader` makes, and tells a failure's place in the original bytes.
    ///
    /// Text that is invalid from some byte on is read up to there: what the reader fails at before is reported as it
    /// is; otherwise the invalid byte is, with the entry in which the reader found its input at an end.
    func read<Reader: TextReader & ~Copyable>(
        _ bytes: UnsafeBufferPointer<UInt8>, as format: PropertyList.Format, allowsNonCharacters: Bool = true,
        with makeReader: (_ text: UnsafeBufferPointer<UInt8>, _ isASCII: Bool) -> Reader
    ) throws(DecodingFailure) -> PropertyList {
        try withText(of: bytes) { text throws(DecodingFailure) in
            let traits = textTraits(of: text)
            let fault = traits.fault(in: text, encoding, invalidFrom: invalidFrom, allowsNonCharacters)
            let valid = fault.map { UnsafeBufferPointer(rebasing: text[..<$0.offset]) } ?? text
            var reader = makeReader(valid, traits.isASCII)
            do throws(Fault) {
                let value = try reader.read()
                if let fault { throw fault }
                return value
            } catch {
                let first = fault.map { error.offset < $0.offset ? error : $0 } ?? error
                throw DecodingFailure(
                    first.problem, offset: originalOffset(first.offset, in: bytes), path: reader.path,
                    format: format)
            }
        }
    }
}

extension TextTraits {
    /// The first thing that makes the text no text.
    fileprivate func fault(
        in text: UnsafeBufferPointer<UInt8>, _ encoding: TextEncoding, invalidFrom: Int?, _ allowsNonCharacters: Bool
    ) -> Fault? {
        if !allowsNonCharacters, let offset = firstNonCharacter {
            return Fault(.invalidCharacter(0xFFFE + UInt32(text[offset + 2] & 1)), at: offset)
        }
        return (firstInvalid ?? invalidFrom).map { Fault(.invalidText(encoding: encoding.name), at: $0) }
    }
}
