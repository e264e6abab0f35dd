internal import Digests

/// The local state as a file: a checkpoint followed by records, each with its length and its CRC-32C.
///
///     70 72 66 6a 04        "prfj", and the version of the format
///     8f 02 …… 4 bytes      the state when the journal was started: length, body, checksum
///     05 …… 4 bytes         a record, and so on; a record that a crash truncated ends the journal
package enum Journal {
    private static let magic: [UInt8] = Array("prfj".utf8) + [4]

    /// A part of a journal, and the long values to which it refers.
    package struct Part: Sendable {
        package let bytes: [UInt8]
        package let longValues: [LongValue]
    }

    /// The start of a journal. Records follow it.
    package struct Checkpoint: Sendable {
        package let bytes: [UInt8]
        package let longValues: [LongValue]

        fileprivate init(_ part: Part) { (bytes, longValues) = (part.bytes, part.longValues) }
    }

    /// Returns the start of a journal with this state.
    package static func checkpoint(of state: LocalState) -> Checkpoint { Checkpoint(framed(state, after: magic)) }

    /// Returns the part to append for a record.
    package static func entry(of record: LocalRecord) -> Part { framed(record) }

    /// Returns a journal that starts with this state, and includes its long values.
    package static func beginning(with state: LocalState) -> [UInt8] { framed(state.recorded, after: magic) }

    /// Returns the bytes to append for a record, which include its long values.
    package static func entry(_ record: LocalRecord) -> [UInt8] { framed(record.recorded) }

    /// Encodes the file beside a journal from which an exchange can conclude that there is nothing to do.
    package static func encoded(_ summary: StateSummary) -> [UInt8] { framed(summary.recorded, after: magic) }

    package static func summary(_ bytes: [UInt8]) throws(PackFault) -> StateSummary { try alone(bytes) }

    /// Encodes the file beside a journal that records how long files were waited for.
    package static func encoded(_ waits: PendingWaits) -> [UInt8] { framed(waits.recorded, after: magic) }

    package static func pendingWaits(_ bytes: [UInt8]) throws(PackFault) -> PendingWaits { try alone(bytes) }

    /// Decodes a file that contains a single body.
    private static func alone<Value: JournalCodable>(_ bytes: [UInt8]) throws(PackFault) -> Value {
        guard bytes.starts(with: magic) else { throw .notThisFormat }
        var reader = ByteReader(bytes)
        _ = try reader.bytes(magic.count)
        let value: Value = try body(&reader)
        try reader.expectEnd()
        return value
    }

    private static func framed(_ body: some JournalCodable, after magic: [UInt8] = []) -> Part {
        var bytes = JournalBytes(refersToLongValues: true)
        body.write(to: &bytes)
        let values = bytes.longValues ?? []
        return Part(bytes: framed(bytes.taken(), after: magic), longValues: values)
    }

    /// Adds the length and the checksum to a body in place, because it may be large.
    private static func framed(_ body: consuming [UInt8], after magic: [UInt8] = []) -> [UInt8] {
        var beginning = magic
        beginning.append(leb128: UInt64(body.count))
        let checksum = CRC32C.checksum(body)
        body.insert(contentsOf: beginning, at: 0)
        body.append(littleEndian: checksum)
        return body
    }

    /// The result of reading a journal.
    package struct Reading: Hashable, Sendable {
        package let state: LocalState
        /// The length of the valid part. The rest was truncated by a crash, and must be removed before more is
        /// appended.
        package let length: Int
        /// The length of the part up to the first record.
        package let checkpointLength: Int
        package let records: Int
        /// The error after the valid part if complete records follow it, so that it is damage and not a truncation by a
        /// crash.
        package let damage: PackFault?
        /// The size of the long values to which the checkpoint refers.
        package let bytesOfLongValues: Int
    }

    /// Returns the state to which a journal leads.
    ///
    /// - Parameter longValues: The long values to which the journal refers.
    package static func replay(
        _ bytes: [UInt8], longValues: (any LongValueStore)? = nil
    ) throws(PackFault) -> Reading {
        var reader = ByteReader(bytes)
        reader.longValues = longValues
        guard bytes.starts(with: magic) else {
            throw bytes.starts(with: magic.dropLast()) && bytes.count >= magic.count ? .olderVersion : .notThisFormat
        }
        _ = try reader.bytes(magic.count)
        var state: LocalState = try body(&reader)
        let (checkpointLength, bytesOfLongValues) = (reader.position, reader.bytesOfLongValues)
        var (length, records) = (checkpointLength, 0)
        while !reader.isAtEnd {
            let start = reader
            do throws(PackFault) {
                state.apply(try body(&reader) as LocalRecord)
            } catch {
                let isDamage = error.isOfMissingBlobs || hasRecords(after: start)
                return Reading(
                    state: state, length: length, checkpointLength: checkpointLength, records: records,
                    damage: isDamage ? error : nil, bytesOfLongValues: bytesOfLongValues)
            }
            (length, records) = (reader.position, records + 1)
        }
        return Reading(
            state: state, length: length, checkpointLength: checkpointLength, records: records, damage: nil,
            bytesOfLongValues: bytesOfLongValues)
    }

    /// Decodes a body, and verifies its checksum and length.
    private static func body<Value: JournalCodable>(_ reader: inout ByteReader) throws(PackFault) -> Value {
        let body = Array(try reader.run(limit: .max))
        guard try reader.halfWord() == CRC32C.checksum(body) else { throw .wrongChecksum }
        var inner = ByteReader(body)
        inner.longValues = reader.longValues
        let value = try inner.read(Value.self)
        try inner.expectEnd()
        reader.bytesOfLongValues += inner.bytesOfLongValues
        return value
    }

    /// Whether the record at `start` has its full length and a valid record follows it, so that it was not truncated.
    private static func hasRecords(after start: ByteReader) -> Bool {
        var reader = start
        do throws(PackFault) {
            _ = try reader.run(limit: .max)
            _ = try reader.halfWord()
            _ = try body(&reader) as LocalRecord
            return true
        } catch {
            return false
        }
    }
}
