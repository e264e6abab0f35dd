// Putting values in their place.
extension XMLReader {
    /// Checks that a value may stand here.
    @inline(__always)
    private func checkPlace(_ start: Int) throws(Fault) {
        if builder.isInDictionary, !builder.awaitsValue { throw Fault(.valueWithoutKey, at: start) }
    }

    @inline(__always)
    mutating func add(_ value: consuming PropertyList, from start: Int) throws(Fault) {
        try checkPlace(start)
        builder.add(value)
    }

    @inline(__always)
    mutating func begin(_ name: XMLElement, from start: Int) throws(Fault) {
        try checkPlace(start)
        try builder.begin(dictionary: name == .dict, at: start)
    }

    /// Ends a dictionary; one that is exactly `{CF$UID = integer}` is a reference.
    mutating func endDictionary(at start: Int) throws(Fault) {
        if builder.awaitsValue { throw Fault(.keyWithoutValue(builder.lastKey), at: start) }
        guard builder.childCount > 0, builder.lastKey.hasSameBytes(as: "CF$UID") else {
            return try builder.endDictionary()
        }
        try builder.endDictionary { dictionary in dictionary.asUID.map { .uid($0) } ?? .dictionary(dictionary) }
    }

    mutating func readKey(from start: Int) throws(Fault) {
        let text = try readText(inside: .key)
        let key = text.withBytes(in: base, scratch) { String(validated: $0, isASCII: text.isASCII) }
        let bytes = text.start < 0 ? nil : UnsafeBufferPointer(start: base + text.start, count: text.count)
        try addKey(key, bytes: bytes, from: start)
    }

    @inline(__always)
    mutating func addKey(_ key: consuming String, bytes: UnsafeBufferPointer<UInt8>?, from start: Int)
        throws(Fault)
    {
        guard builder.isInDictionary else { throw Fault(.misplacedElement("key"), at: start) }
        guard !builder.awaitsValue else { throw Fault(.keyWithoutValue(builder.lastKey), at: start) }
        builder.addKey(key, bytes: bytes, at: start)
    }

    mutating func readString(from start: Int) throws(Fault) {
        try checkPlace(start)
        let text = try readText(inside: .string)
        builder.add(.string(text.withBytes(in: base, scratch) { String(validated: $0, isASCII: text.isASCII) }))
    }

    mutating func readScalar(_ element: XMLElement, from start: Int) throws(Fault) {
        try checkPlace(start)
        let place = position
        let text: XMLText
        if element == .data, let run = try readPlainRun(closedBy: .data) {
            text = run
        } else {
            text = try readText(inside: element)
        }
        let outcome: Result<PropertyList, Fault> = text.withBytes(in: base, scratch) { bytes in
            Result { () throws(Fault) in try element.value(of: bytes, at: place) }
        }
        do throws(Fault) {
            builder.add(try outcome.get())
        } catch {
            // What was put together in the scratch buffer does not stand in the input as it is.
            throw text.start < 0 ? Fault(error.problem, at: place) : error
        }
    }
}
