/// The former numbers of writers.
///
/// A store takes a new number when its state is lost, restored or cloned. With the former numbers, its copies recognize
/// the writes that were once theirs.
package struct Lineage: Hashable, Sendable {
    private var formerNumbers: [WriterID: Set<WriterID>] = [:]

    package init() {}

    package subscript(writer: WriterID) -> Set<WriterID> {
        get { formerNumbers[writer] ?? [] }
        set { formerNumbers[writer] = newValue.isEmpty ? nil : newValue }
    }

    package var isEmpty: Bool { formerNumbers.isEmpty }

    mutating func merge(_ other: Lineage) {
        for (writer, former) in other.formerNumbers { formerNumbers[writer, default: []].formUnion(former) }
    }

    /// Returns the entries of these writers.
    func of(_ writers: some Sequence<WriterID>) -> Lineage {
        var lineage = Lineage()
        for writer in writers { lineage[writer] = self[writer] }
        return lineage
    }
}

extension Lineage: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(formerNumbers) }

    init(from reader: inout ByteReader) throws(PackFault) {
        formerNumbers = try reader.read()
        guard formerNumbers.count <= ByteReader.mostWriters else { throw .beyondLimit("writers") }
        for (writer, former) in formerNumbers {
            guard !former.isEmpty, former.count <= ByteReader.mostWriters else { throw .notCanonical }
            guard !former.contains(writer) else { throw .contradiction("a writer that was itself before") }
        }
    }
}

extension Envelope {
    mutating func setLineage(_ lineage: Lineage) {
        if !lineage.isEmpty { fields[.lineage] = lineage.recorded }
    }

    /// Decodes the field, and throws unless it is in canonical form.
    func lineage() throws(PackFault) -> Lineage {
        guard let bytes = fields[.lineage] else { return Lineage() }
        guard try identifiesWrites() else { throw .contradiction("fields of a header") }
        var reader = ByteReader(bytes)
        let lineage = try reader.read(Lineage.self)
        try reader.expectEnd()
        guard !lineage.isEmpty, lineage.recorded == bytes else { throw .notCanonical }
        return lineage
    }
}
