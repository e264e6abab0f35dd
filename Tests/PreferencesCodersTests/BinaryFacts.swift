import Foundation
import PreferencesCoders
import TestSupport

private let sound = BinaryList(objects: [[0xA3, 1, 2, 3], [0x10, 99], [0x11, 0x02, 0x8E], [0x10, 0xFE]])

private func isDamaged(line: Int = #line, _ change: (inout BinaryList) -> Void) throws {
    try equal(decoded([Int].self, sound.data), [99, 654, 254], line: line)
    var list = sound
    change(&list)
    try rejects([Int].self, list.data, line: line)
}

/// Facts about property lists in binary form.
enum BinaryFacts {
    static let all: [Fact] = [
        Fact("genericProperties_binary") { _ = try decoded(Manifest.self, manifest.data) },
        Fact("issue5877417") {
            var list = manifest.data
            list[7] = UInt8(ascii: "x")
            _ = try decoded(Manifest.self, list)
        },
        Fact("badReferenceIndex") { try isDamaged { $0.objects[0][3] = 0xBB } },
        Fact("badTopObjectIndex") { try isDamaged { $0.top = .max } },
        Fact("outOfBoundsObjectOffset") { try isDamaged { $0.wrongOffsets = [3: 0xEA] } },
        Fact("nonTopObjectOffsetBelowHeader") { try isDamaged { $0.wrongOffsets = [1: 3] } },
        Fact("outOfBoundsOffsetTableStart") { try isDamaged { $0.table = .max } },
        Fact("tooLargeObjectCount") { try isDamaged { $0.count = .max } },
        Fact("tooLargeOffset") {
            var wide = sound
            wide.offsetSize = 8
            try equal(decoded([Int].self, wide.data), [99, 654, 254])
            try isDamaged { ($0.offsetSize, $0.wrongOffsets) = (8, [2: .max]) }
        },
        Fact("tooLargeIndex") {
            func array(_ references: [UInt64]) -> [UInt8] { [0xA3] + references.flatMap { bigEndian($0) } }
            var wide = sound
            (wide.referenceSize, wide.objects[0]) = (8, array([1, 2, 3]))
            try equal(decoded([Int].self, wide.data), [99, 654, 254])
            try isDamaged { ($0.referenceSize, $0.objects[0]) = (8, array([1, .max, 3])) }
        },
        Fact("uid") {
            let list = "<plist><dict><key>CF$UID</key><integer>4</integer></dict></plist>"
            try rejects([String: Int32].self, bytes(list))
            try rejects([Int32].self, BinaryList(objects: [[0xA1, 1], [0x80, 4]]).data)
            try equal(decoded([Int32].self, BinaryList(objects: [[0xA1, 1], [0x10, 4]]).data), [4])
        },
    ]

    private static let manifest: BinaryList = {
        let seconds = Date(timeIntervalSince1970: 549_864_182).timeIntervalSinceReferenceDate
        return BinaryList(objects: [
            [0xD3, 1, 2, 3, 4, 5, 6], ascii("goods"), ascii("from"), ascii("to"),
            [0xA5, 7, 8, 9, 10, 11], ascii("Seeby"), ascii("Holm"),
            ascii("salt"), [0x10, 75], [0x08], [0x33] + bigEndian(seconds.bitPattern),
            [0x48, 1, 2, 3, 4, 252, 253, 254, 255],
        ])
    }()
}
