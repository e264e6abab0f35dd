#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The encoded scalars of a binary file, each once, and the numbers of all objects.
///
/// A scalar is encoded behind the others and then looked up by its bytes: if they are there already, the new ones are
/// dropped. So whatever differs in the file stays apart: two normal forms of a text, 0.0 and −0.0, integer 1 and real
/// 1.
struct ScalarPool: ~Copyable {
    /// The scalars, one behind the other.
    var output = OutputBuffer(capacity: 4096)
    /// Where each object begins among the scalars; a container takes no room there.
    private var starts = Stack<Int>(capacity: 256)
    private var table = SlotTable(slotCount: 512)
    private var recentTexts = RecentTexts()
    /// The length of the longest scalar.
    private(set) var longest = 0
    private let seed = KeyIndex.seed

    /// How many objects have a number.
    var count: Int { starts.count }

    func start(of object: Int) -> Int { starts[object] }

    /// How many bytes an object takes among the scalars: none for a container.
    func length(of object: Int) -> Int {
        (object + 1 < starts.count ? starts[object + 1] : output.count) - starts[object]
    }

    /// Where the objects of `range` begin.
    func starts(in range: Range<Int>) -> UnsafeBufferPointer<Int> { starts.elements(in: range) }

    /// Gives a container its number.
    mutating func numberContainer() -> Int {
        starts.push(output.count)
        return starts.count - 1
    }

    /// The number of a text.
    @inline(__always)
    mutating func number(of text: String) -> UInt32 {
        if let number = recentTexts.number(of: text) { return number }
        let start = output.count
        text.withBytes { output.append(binaryText: $0) }
        let number = number(from: start)
        recentTexts.note(text, number)
        return number
    }

    /// The number of a value that is no container.
    @inline(__always)
    mutating func number(of scalar: borrowing PropertyList) -> UInt32 {
        let start = output.count
        switch scalar {
        case .string(let text): return number(of: text)
        case .integer(let number): output.append(binaryInteger: number)
        case .real(let number):
            output.append(0x23 as UInt8)
            output.append(bigEndian: number.bitsInFile, size: 8)
        case .boolean(let flag): output.append(flag ? 0x09 as UInt8 : 0x08)
        case .date(let date):
            output.append(0x33 as UInt8)
            output.append(bigEndian: date.timeIntervalSinceReferenceDate.bitsInFile, size: 8)
        case .data(let data):
            output.append(head: 0x40, count: data.count)
            data.withUnsafeBytes { output.append($0.bindMemory(to: UInt8.self)) }
        case .uid(let number):
            let size = sizeOfUnsigned(number)
            output.append(0x80 | UInt8(size - 1))
            output.append(bigEndian: number, size: size)
        case .array, .dictionary: break
        }
        return number(from: start)
    }

    /// The number of the object whose bytes were written from `start` on, which are dropped if they stand elsewhere.
    @inline(__always)
    private mutating func number(from start: Int) -> UInt32 {
        let bytes = UnsafeBufferPointer(start: output.base + start, count: output.count - start)
        let hash = UInt32(truncatingIfNeeded: hashOfBytes(bytes, seed: seed))
        var slot = table.firstSlot(hash)
        while let (object, known) = table.entry(in: slot) {
            if known == hash {
                let other = starts[object]
                let end = object + 1 < starts.count ? starts[object + 1] : start
                if end - other == bytes.count, sameBytes(output.base + other, bytes.baseAddress, bytes.count) {
                    output.truncate(to: start)
                    return UInt32(truncatingIfNeeded: object)
                }
            }
            slot = table.next(slot)
        }
        longest = max(longest, bytes.count)
        table.fill(slot, with: starts.count, hash)
        starts.push(start)
        return UInt32(truncatingIfNeeded: starts.count - 1)
    }
}

extension Double {
    /// All NaNs are one value, and so one object; the two zeros stay two.
    fileprivate var bitsInFile: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}
