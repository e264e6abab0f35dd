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
        _ bytes: UnsafeBufferPointer<UInt8>, as format: PropertyList.Format,
        with makeReader: (_ text: UnsafeBufferPointer<UInt8>, _ isASCII: Bool) -> Reader
    ) throws(DecodingFailure) -> PropertyList {
        try withText(of: bytes) { text throws(DecodingFailure) in
            let traits = textTraits(of: text)
            let fault = (traits.firstInvalid ?? invalidFrom).map {
                Fault(.invalidText(encoding: encoding.name), at: $0)
            }
            let valid = fault.map { UnsafeBufferPointer(rebasing: text[..<$0.offset]) } ?? text
            var reader = makeReader(valid, traits.isASCII)
            do throws(Fault) {
                let value = try reader.read()
                if let fault { throw fault }
                return value
            } catch {
                if start == 0, encoding == .utf8, let unmarked = TextEncoding.withoutMark(in: bytes) {
                    throw DecodingFailure(.missingByteOrderMark(encoding: unmarked.name), offset: 0, format: format)
                }
                // A string without an end was read to where the valid text ends.
                let first = fault.map { error.isBefore($0) ? error : $0 } ?? error
                throw DecodingFailure(
                    first.problem, offset: originalOffset(first.offset, in: bytes), path: reader.path,
                    format: format)
            }
        }
    }
}

extension Fault {
    fileprivate func isBefore(_ invalidText: Fault) -> Bool {
        offset < invalidText.offset && problem != .unterminatedString
    }
}
