import PropertyLists
import Testing

@Suite struct IntegerTests {
    typealias Integer = PropertyList.Integer

    @Test(arguments: [
        (Integer(Int64.min), "-9223372036854775808"), (Integer(Int64.max), "9223372036854775807"),
        (Integer(UInt64(1) << 63), "9223372036854775808"),
        (Integer(UInt64.max), "18446744073709551615"),
        (Integer(0), "0"), (Integer(-1), "-1"),
    ])
    func `an integer prints its exact digits`(_ number: Integer, _ text: String) {
        #expect(number.description == text)
    }

    @Test func `an integer keeps its sign`() {
        #expect(Integer(Int64(-1)) != Integer(UInt64.max))
        #expect(Integer(-1).magnitude == 1)
        #expect(Integer(Int64.min).magnitude == 1 << 63)
        #expect(Integer(UInt64.max).magnitude == .max)
        #expect(Integer(UInt64(7)) == Integer(7))
        #expect(Integer(UInt64(7)).hashValue == Integer(Int64(7)).hashValue)
    }

    @Test(arguments: [
        (Int128(Int64.min) - 1, false), (Int128(Int64.min), true), (-1, true), (0, true),
        (Int128(UInt64.max), true),
        (Int128(UInt64.max) + 1, false), (.max, false), (.min, false),
    ])
    func `an integer is created exactly or not at all`(_ number: Int128, _ fits: Bool) {
        let integer = Integer(exactly: number)
        #expect((integer != nil) == fits)
        if let integer { #expect(integer.description == number.description) }
    }

    @Test func `an integer is converted only if it fits`() {
        #expect(Int8(exactly: Integer(-128)) == -128)
        #expect(Int8(exactly: Integer(-129)) == nil)
        #expect(UInt8(exactly: Integer(255)) == 255)
        #expect(UInt8(exactly: Integer(-1)) == nil)
        #expect(Int64(exactly: Integer(UInt64(1) << 63)) == nil)
        #expect(UInt64(exactly: Integer(UInt64.max)) == .max)
        #expect(UInt64(exactly: Integer(Int64.min)) == nil)
        #expect(Int128(exactly: Integer(Int64.min)) == Int128(Int64.min))
        #expect(Int128(exactly: Integer(UInt64.max)) == Int128(UInt64.max))
    }

    @Test func `integers are ordered across the sign and the width`() {
        let ascending: [Integer] = [
            Integer(Int64.min), Integer(Int64.min + 1), -2, -1, 0, 1, Integer(Int64.max),
            Integer(UInt64(1) << 63),
            Integer(UInt64.max),
        ]
        for (i, a) in ascending.enumerated() {
            for (j, b) in ascending.enumerated() {
                #expect((a < b) == (i < j))
                #expect((a == b) == (i == j))
            }
        }
    }

    @Test func `the nearest double keeps sign and size`() {
        #expect(Integer(Int64.min).asDouble == -0x1p63)
        #expect(Integer(UInt64.max).asDouble == 0x1p64)
        #expect(Integer(-3).asDouble == -3)
    }
}
