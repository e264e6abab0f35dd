import Foundation
import PreferencesCoders
import TestSupport

/// Facts about property lists in XML, apart from numbers and dates.
enum XMLFacts {
    static let documents: [Fact] = [
        Fact("genericProperties_XML") { _ = try decoded(Manifest.self, xml(Manifest.list)) },
        Fact("xmlErrors") {
            try rejects(Manifest.self, Data())
            try rejects(Manifest.self, bytes("<plist></plist>"))
            let whole = text(xml(Manifest.list))
            try rejects(Manifest.self, bytes(String(whole.dropFirst())))
            try rejects(Manifest.self, bytes(String(whole.prefix(90))))
            for (part, wrong) in mistakes {
                let list = whole.replacing(part, with: wrong)
                try isTrue(list != whole)
                do { try rejects(Manifest.self, bytes(list)) } catch {
                    throw Difference(description: "\(wrong) for \(part): \(error)")
                }
            }
        },
        Fact("dataWithBOM_utf8") {
            try equal(decoded(String.self, Data([0xEF, 0xBB, 0xBF]) + xml("<string>ahoy</string>")), "ahoy")
        },
        Fact("dataWithBOM_utf32be") {
            let list = text(xml("<string>ahoy</string>")).replacing("UTF-8", with: "UTF-32BE")
            let units = list.unicodeScalars.flatMap { bigEndian(UInt64($0.value), 4) }
            try equal(decoded(String.self, Data([0, 0, 0xFE, 0xFF] + units)), "ahoy")
        },
        Fact("dataWithBOM_utf32le") {
            let list = text(xml("<string>ahoy</string>")).replacing("UTF-8", with: "UTF-16LE")
            try equal(decoded(String.self, utf16(list)), "ahoy")
        },
        Fact("plistWithBadUTF8") {
            let list = xml("<dict>\n<key>maker</key>\n<string>Mast*Sail</string>\n</dict>")
            try equal(decoded([String: String].self, list), ["maker": "Mast*Sail"])
            try rejects([String: String].self, Data(list.map { $0 == UInt8(ascii: "*") ? 0xAA : $0 }))
        },
        Fact("issue5616259") {
            let list = text(xml("<array><string>bow</string><string>stern</string></array>"))
            try equal(decoded([String].self, bytes(list)), ["bow", "stern"])
            try rejects([String].self, bytes(list.replacing("UTF-8", with: "nosuch")))
        },
        Fact("unterminatedComment") {
            try rejects([String].self, bytes("<array><!-- nothing follows -->"))
            try rejects([String].self, bytes("<array><!-- nothing follows"))
        },
        Fact("incompleteOpenTag") {
            for start in ["<array", "<", "<plist", "<plist><string"] { try rejects([String].self, bytes(start)) }
        },
        Fact("garbageCharactersAfterXMLTagName") {
            let list = "<plist><dict><key>rig</key><string>sloop</string></dict></plist>"
            try rejects([String: String].self, bytes(list.replacing("<string>", with: "<stringy>")))
            let spaced = bytes(list.replacing("<string>", with: "<string    >"))
            try equal(decoded([String: String].self, spaced), ["rig": "sloop"])
        },
        Fact("test_xmlDecoder") {
            let list = """
                <dict>
                <key>region</key><string>nl</string>
                <key>program</key><string>harbour</string>
                <key>version</key><real>7.0</real>
                <key>level</key><integer>-250</integer>
                <key>isOpen</key><true/>
                <key>notRead</key><string>...</string>
                <key>parts</key>
                <array>
                    <data>
                    U0VBX1dJTkQ=
                    </data>
                </array>
                <key>date</key><date>1970-01-01T00:00:45Z</date>
                </dict>
                """
            var format = Format.binary
            let info = try PropertyListDecoder().decode(Info.self, from: xml(list), format: &format)
            try equal(format, .xml)
            try equal(info, Info())
        },
    ]

    static let contents: [Fact] = [
        Fact("multibyteCharacters_escaped_noencoding") {
            let list = bytes("<plist><string>Two letters, &#241; and &#xF1;, and so on.</string></plist>")
            try equal(decoded(String.self, list), "Two letters, ñ and ñ, and so on.")
        },
        Fact("escapedCharacters") {
            let list = bytes("<plist><string>&quot;&gt;&apos;&amp;&lt;</string></plist>")
            try equal(decoded(String.self, list), "\">'&<")
        },
        Fact("plistWithEscapedCharacters") {
            let list = xml(
                "<dict><key>org.example.rule-of.ports</key>"
                    + "<string>(allow port (match #&quot;^[a-f]*$&quot;))</string></dict>")
            try equal(
                decoded([String: String].self, list),
                ["org.example.rule-of.ports": "(allow port (match #\"^[a-f]*$\"))"])
        },
        Fact("decodingEmoji") {
            let list = xml("<dict><key>boat</key><string>&#128674;</string></dict>")
            try equal(decoded([String: String].self, list), ["boat": "\u{1F6A2}"])
        },
        Fact("decodingTooManyCharactersError") {
            for number in ["98769876128674", "12900000"] {
                let list = xml("<dict><key>boat</key><string>&#\(number);</string></dict>")
                try rejects([String: String].self, list)
            }
        },
        Fact("roundTripEmoji") { try comesBack(["🚢", "👨🏾‍❤️‍👩🏼", "🏄🏿‍♀️🧜🏻🐙", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"]) },
        Fact("roundTripEscapedStrings") { try comesBack(["<", "&", ">", "&lt;"]) },
        Fact("CDATA_section") {
            let list = bytes("<string><![CDATA[Wind &lt; &4; <![CDATA[]]]> and sea</string>")
            try equal(decoded(String.self, list), "Wind &lt; &4; <![CDATA[] and sea")
        },
        Fact("invalidNSDataKey_82142612") {
            let list = [[0xD1, 1, 2], ascii("reef"), ascii("x")]
            try equal(decoded([String: String].self, BinaryList(objects: list).data), ["reef": "x"])
            let wrong = [list[0], [0x44] + Array("reef".utf8), list[2]]
            try rejects([String: String].self, BinaryList(objects: wrong).data)
            let inXML = bytes("<plist><dict><data>cmVl</data><string>x</string></dict></plist>")
            try rejects([String: String].self, inXML)
        },
        Fact("nonStringDictionaryKey") {
            for key in [[0x09], [0x08], [0x10, 5]] as [[UInt8]] {
                let wrong = [[0xD1, 1, 2], key, ascii("x")]
                try rejects([String: String].self, BinaryList(objects: wrong).data)
            }
            let inXML = bytes("<plist><dict><string>reef</string><string>x</string></dict></plist>")
            try rejects([String: String].self, inXML)
        },
    ]

    private static let mistakes: [(String, String)] = [
        ("<dict>", "<-- no end\n<dict>"),
        ("<dict>", "<!-- no end\n<dict>"),
        ("DOCTYPE", "NOTYPE"),
        ("<!DOCTYPE", "<?DOCTYPE"),
        (
            "PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\"",
            "[<!ELEMENT sail (#PCDATA)>]"
        ),
        ("</array>", "</other>"),
        ("<array>", "<unknown>"),
        ("</plist>", "<string>more</string></plist>"),
        ("<key>goods</key>", "<string>more</string><key>goods</key>"),
        ("<string>Seeby</string>", ""),
        ("<integer>75</integer>", "<real>x75y</real>"),
        ("<integer>75</integer>", "<real></real>"),
        ("<integer>75</integer>", "<integer></integer>"),
        ("<integer>75</integer>", "<integer>75z</integer>"),
        ("<integer>75</integer>", "<integer>75B</integer>"),
        ("<integer>75</integer>", "<integer>77777777777777777777777777777777777</integer>"),
        ("<date>1987-06-05T04:03:02Z</date>", "<date></date>"),
    ]
}

/// Has members of several types. One member is not in the list.
private struct Info: Codable, Equatable {
    var region = "nl"
    var program: String? = "harbour"
    var version = 7.0
    var level = -250
    var absent: Int?
    var isOpen = true
    var parts = [Data("SEA_WIND".utf8)]
    var date = Date(timeIntervalSince1970: 45)
}

/// Facts about dates.
enum DateFacts {
    static let all: [Fact] = [
        Fact("reallyOldDates_5842198") { _ = try decoded(Date.self, xml("<date>0007-03-21T18:40:05Z</date>")) },
        Fact("badDates") { try comesBack([yearZero]) },
        Fact("badDate_encode") { try isWritten(yearZero, "0000-01-02T00:00:00Z") },
        Fact("badDate_decode") {
            try equal(decoded(Date.self, xml("<date>0000-01-02T00:00:00Z</date>")), yearZero)
        },
        Fact("farFutureDates") { try comesBack([Date(timeIntervalSince1970: 987_654_321_098)]) },
        Fact("encode_122065123") {
            try isWritten(Date(timeIntervalSinceReferenceDate: 728_438_400), "2024-02-01T00:00:00Z")
            try isWritten(Date(timeIntervalSinceReferenceDate: 728_524_799), "2024-02-01T23:59:59Z")
            try isWritten(Date(timeIntervalSinceReferenceDate: 730_944_000), "2024-03-01T00:00:00Z")
        },
        Fact("decodingCompatibility_122065123") {
            let date = try decoded(Date.self, xml("<date>2024-01-32T23:59:59Z</date>"))
            try equal(date.timeIntervalSinceReferenceDate, 728_524_799)
        },
    ]

    private static let yearZero = Date(timeIntervalSinceReferenceDate: -63_145_612_800)

    private static func isWritten(_ date: Date, _ words: String) throws {
        try equal(text(encoded([date], .xml)), text(xml("<array>\n\t<date>\(words)</date>\n</array>")))
    }
}
