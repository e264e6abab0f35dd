import Foundation
import PropertyLists
import Testing

@Suite struct AccessTests {
    private let value: PropertyList = [
        "text": "a", "number": 1, "real": 1.5, "flag": true, "list": [10, 20, 30], "inner": ["key": "b"],
    ]

    @Test func `a key leads into a dictionary and nowhere else`() {
        #expect(value["inner"]?["key"] == "b")
        #expect(value["absent"] == nil)
        #expect(value["text"]?["key"] == nil)
        #expect(value["list"]?["0"] == nil)
    }

    @Test(
        arguments: [(0, 10), (2, 30), (-1, 30), (-3, 10), (3, nil), (-4, nil), (.max, nil), (.min, nil)]
            as [(Int, Int64?)])
    func `an index leads to an element`(index: Int, element: Int64?) {
        #expect(value["list"]?[index] == element.map { PropertyList(integerLiteral: $0) })
        #expect(value["inner"]?[index] == nil)
    }

    @Test func `a value is returned with its own type, never converted`() {
        #expect(value["text"]?.stringValue == "a")
        #expect(value["number"]?.integerValue == 1)
        #expect(value["number"]?.realValue == nil)
        #expect(value["real"]?.realValue == 1.5)
        #expect(value["flag"]?.booleanValue == true)
        #expect(value["flag"]?.integerValue == nil)
        #expect(value["list"]?.arrayValue?.count == 3)
        #expect(value["inner"]?.dictionaryValue == ["key": "b"])
        #expect(
            PropertyList.date(Date(timeIntervalSinceReferenceDate: 0)).dateValue?.timeIntervalSinceReferenceDate == 0)
        #expect(PropertyList.data(Data([1])).dataValue == Data([1]))
    }
}
