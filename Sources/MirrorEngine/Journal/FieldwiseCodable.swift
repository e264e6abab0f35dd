/// A type with several fields that is encoded in the journal, field after field.
///
/// A type with millions of values in a journal encodes its fields itself, because key paths are slower.
protocol FieldwiseCodable: JournalCodable {
    static var fields: JournalFields<Self> { get }
}

extension FieldwiseCodable {
    func write(to bytes: inout JournalBytes) { Self.fields.write(self, &bytes) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try Self.fields.read(&reader) }
}

extension ByteReader {
    fileprivate mutating func read<Record, Value: JournalCodable>(
        _ path: WritableKeyPath<Record, Value>, of record: inout Record
    ) throws(PackFault) {
        record[keyPath: path] = try read()
    }
}

/// The fields of a record, in the order of their bytes.
struct JournalFields<Record>: Sendable {
    private(set) var write: @Sendable (Record, inout JournalBytes) -> Void
    private(set) var read: @Sendable (inout ByteReader) throws(PackFault) -> Record

    typealias Field<Value> = any KeyPath<Record, Value> & Sendable
    typealias Variable<Value> = any WritableKeyPath<Record, Value> & Sendable

    /// Starts with the fields from which a record is made. The others are assigned to the record.
    init<each Value: JournalCodable>(
        _ make: @escaping @Sendable (repeat each Value) -> Record, _ paths: repeat Field<each Value>
    ) {
        write = { record, bytes in repeat record[keyPath: each paths].write(to: &bytes) }
        read = { (reader: inout ByteReader) throws(PackFault) in make(repeat try reader.read((each Value).self)) }
    }

    func then<each Value: JournalCodable>(
        _ paths: repeat Variable<each Value>
    ) -> Self {
        then { record, bytes in
            repeat record[keyPath: each paths].write(to: &bytes)
        } read: { (record: inout Record, reader: inout ByteReader) throws(PackFault) in
            repeat try reader.read(each paths, of: &record)
        }
    }

    /// Adds a last field that an earlier version did not write.
    func thenIfPresent<Value: JournalCodable>(_ path: Variable<Value>) -> Self {
        then { record, bytes in
            record[keyPath: path].write(to: &bytes)
        } read: { (record: inout Record, reader: inout ByteReader) throws(PackFault) in
            if !reader.isAtEnd { try reader.read(path, of: &record) }
        }
    }

    private func then(
        write: @escaping @Sendable (Record, inout JournalBytes) -> Void = { _, _ in },
        read: @escaping @Sendable (inout Record, inout ByteReader) throws(PackFault) -> Void
    ) -> Self {
        var fields = self
        fields.write = { record, bytes in
            self.write(record, &bytes)
            write(record, &bytes)
        }
        fields.read = { (reader: inout ByteReader) throws(PackFault) in
            var record = try self.read(&reader)
            try read(&record, &reader)
            return record
        }
        return fields
    }

    // MARK: Limits

    /// Throws an error for a decoded record that does not meet a condition.
    func checking(_ fault: PackFault, _ condition: @escaping @Sendable (Record) -> Bool) -> Self {
        then { (record: inout Record, _: inout ByteReader) throws(PackFault) in
            guard condition(record) else { throw fault }
        }
    }

    /// Limits fields that are numbers of transactions, or 0 for none.
    func checkingSequences(_ paths: Field<UInt64>...) -> Self {
        checking(.beyondLimit("sequence number")) { record in
            paths.allSatisfy { record[keyPath: $0] <= PackName.greatestNumber }
        }
    }
}
