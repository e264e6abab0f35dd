import Foundation
import PreferencesCoders
import TestSupport

/// Facts about types of Foundation that are written and read again.
enum FoundationTypeFacts {
    static func kept<T: Codable & Equatable>(_ values: [T], line: Int = #line) throws {
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
        for value in values { try survives(value, encoder, decoder, line: line) }
    }

    /// A value as the only member of a dictionary.
    struct Wrapped<Value: Codable & Equatable>: Codable, Equatable { var value: Value }

    /// The value of an optional that must be there.
    static func some<T>(_ value: T?) throws -> T {
        guard let value else { throw Difference(description: "no \(T.self)") }
        return value
    }

    static func url(_ text: String, _ base: URL? = nil) throws -> URL { try some(URL(string: text, relativeTo: base)) }

    static func utc() throws -> TimeZone { try some(TimeZone(identifier: "UTC")) }

    static let codable: [Fact] = [
        Fact("test_PersonNameComponents_JSON") {
            var short = PersonNameComponents()
            var full = PersonNameComponents()
            (short.givenName, short.familyName) = ("Given", "Family")
            var known = short
            known.nickname = "Nick"
            (full.namePrefix, full.givenName, full.middleName) = ("Prof.", "Given", "M.")
            (full.familyName, full.nameSuffix, full.nickname) = ("Family", "PhD", "Nick")
            try kept([short, known, full])
        },
        Fact("test_UUID_JSON") {
            let text = "0A1B2C3D-4E5F-4678-9ABC-DEF012345678"
            let bytes: uuid_t = (
                0x0A, 0x1B, 0x2C, 0x3D, 0x4E, 0x5F, 0x46, 0x78, 0x9A, 0xBC, 0xDE, 0xF0, 0x12, 0x34, 0x56, 0x78
            )
            let values = [
                UUID(), try some(UUID(uuidString: text)), try some(UUID(uuidString: text.lowercased())),
                UUID(uuid: bytes),
            ]
            try kept(values.map { Wrapped(value: $0) })
        },
        Fact("test_URL_JSON") {
            let root = URL(fileURLWithPath: "/")
            let site = try url("https://example.org")
            let urls = [
                root, URL(fileURLWithPath: NSTemporaryDirectory()), site, try url("page", site),
                URL(fileURLWithPath: "usr/lib", relativeTo: root),
            ]
            try kept(urls.map { [$0.absoluteURL] })
        },
        Fact("test_NSRange_JSON") {
            try kept([NSRange(), NSRange(location: 0, length: .max), NSRange(location: NSNotFound, length: 0)])
        },
        Fact("test_Locale_JSON") {
            let names = ["", "de", "en_GB", "en_US_POSIX", "pl", "it_IT", "it_CH", "zh-Hans-SG"]
            try kept(names.map { Locale(identifier: $0) })
        },
        Fact("test_IndexSet_JSON") {
            try kept([IndexSet(), IndexSet(integer: 17), IndexSet(integersIn: 0..<Int.max)])
        },
        Fact("test_IndexPath_JSON") {
            try kept([IndexPath(), IndexPath(index: 0), IndexPath(indexes: [2, 1]), IndexPath(indexes: 4...9)])
        },
        Fact("test_Decimal_JSON") {
            let limits: [Decimal] = [.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude]
            try kept((limits + [0, .pi, Decimal()]).map { [$0] })
        },
        Fact("test_CharacterSet_JSON") {
            try kept([
                CharacterSet.controlCharacters, .whitespaces, .whitespacesAndNewlines, .decimalDigits, .letters,
                .lowercaseLetters, .uppercaseLetters, .nonBaseCharacters, .alphanumerics, .decomposables,
                .illegalCharacters, .punctuationCharacters, .capitalizedLetters, .symbols, .newlines,
                CharacterSet(charactersIn: "wxyz"),
            ])
        },
        Fact("test_TimeZone_JSON") {
            try kept([try some(TimeZone(identifier: "Asia/Tokyo")), try utc()])
        },
        Fact("test_Calendar_JSON") {
            let kinds: [Calendar.Identifier] = [
                .gregorian, .buddhist, .chinese, .coptic, .ethiopicAmeteMihret, .ethiopicAmeteAlem, .hebrew, .iso8601,
                .indian, .islamic, .islamicCivil, .japanese, .persian, .republicOfChina,
            ]
            for kind in kinds {
                var calendar = Calendar(identifier: kind)
                calendar.timeZone = try utc()
                try kept([calendar])
            }
        },
        Fact("test_DateComponents_JSON") {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try utc()
            let parts: Set<Calendar.Component> = [
                .era, .year, .month, .day, .hour, .minute, .second, .weekday, .weekdayOrdinal, .weekOfMonth,
                .weekOfYear, .yearForWeekOfYear, .timeZone, .calendar, .nanosecond, .quarter,
            ]
            try kept([calendar.dateComponents(parts, from: Date(timeIntervalSince1970: 1_234_567_890))])
        },
        Fact("test_Measurement_JSON") {
            try kept([Measurement(value: 17, unit: UnitAcceleration.metersPerSecondSquared)])
            try kept([Measurement(value: 17, unit: UnitMass.kilograms)])
            try kept([Measurement(value: 17, unit: UnitLength.miles)])
        },
        Fact("test_URLComponents_JSON") {
            try kept([URLComponents()])
            let texts = [
                "https://example.org", "https://example.org:81", "http://example.com/v3/page.cgi#a=1&b=two",
                "ftp://user:secret@files.example.net:2121/a/path",
            ]
            try kept(try texts.map { try some(URLComponents(string: $0)) })
            let files = [URL(fileURLWithPath: NSTemporaryDirectory()), URL(fileURLWithPath: "/")]
            for url in try texts.map({ try url($0) }) + files + [try url("guide", try url("https://example.org"))] {
                for resolved in [false, true] {
                    try kept([try some(URLComponents(url: url, resolvingAgainstBaseURL: resolved))])
                }
            }
            let changes: [(inout URLComponents) -> Void] = [
                { $0.scheme = "ftp" }, { $0.user = "user" }, { $0.password = "secret" }, { $0.host = "127.0.0.1" },
                { $0.port = 2121 }, { $0.path = "/a/path" }, { $0.query = "text=\u{2713}" }, { $0.fragment = "end" },
                { $0.path = ".." }, { $0.query = "a=1&b=two" },
            ]
            for change in changes {
                var one = URLComponents()
                change(&one)
                try kept([one])
            }
            var all = URLComponents()
            for change in changes.prefix(8) { change(&all) }
            try kept([all])
        },
    ]

    static let geometry: [Fact] = [
        Fact("test_AffineTransform_JSON") {
            try kept([
                AffineTransform.identity, AffineTransform(), AffineTransform(translationByX: 3, byY: 3),
                AffineTransform(scale: 3),
            ])
            let rows: [[CGFloat]] = [
                [1, 3.5, 55.1, 30.3, -6.5, 4.8], [-44.55, 33.6, 2.5, 0, -11, -44],
                [5.5, 2.1, 0.035, 0.066, -0.44, 22.3],
                [8, -3.2, 5.6, 0.75, 0.667, 0.88], [0.587, -0.395, -0.653, 0.4159, 21, 55],
            ]
            try kept(
                rows.map {
                    AffineTransform(m11: $0[0], m12: $0[1], m21: $0[2], m22: $0[3], tX: $0[4], tY: $0[5])
                })
        },
        Fact("test_CGPoint_JSON") { try kept([CGPoint(), .zero, CGPoint(x: 15, y: 25), CGPoint(x: -15, y: -25)]) },
        Fact("test_CGSize_JSON") {
            try kept([CGSize(), .zero, CGSize(width: 35, height: 45), CGSize(width: -35, height: -45)])
        },
        Fact("test_CGRect_JSON") {
            try kept([
                CGRect(), .zero, .null, CGRect(x: 15, y: 25, width: 35, height: 45),
                CGRect(origin: CGPoint(x: -15, y: -25), size: CGSize(width: -35, height: -45)),
            ])
        },
    ]
}
