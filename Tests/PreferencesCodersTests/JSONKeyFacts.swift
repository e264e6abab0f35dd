import Foundation
import PreferencesCoders
import TestSupport

/// Facts about keys that are converted from and to snake case.
enum JSONKeyFacts {
    /// The keys with the value true that a decoder offers.
    struct Offered: Decodable {
        var names: [String] = []

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Name.self)
            for key in values.allKeys where try values.decode(Bool.self, forKey: Name(key.stringValue)) {
                names.append(key.stringValue)
            }
        }
    }

    /// A type with a name of two words.
    struct Camel: Codable { var twoWords: String }

    /// A type with a key of its own and one that the compiler makes.
    struct Mixed: Codable, Equatable {
        var first = "1", secondOfTwo = "2"

        enum CodingKeys: String, CodingKey { case first = "ownName", secondOfTwo }
    }

    /// A type with a number one level further down.
    struct Outer<Number: Codable>: Codable {
        var innerPart: Inner

        init(_ number: Number) { innerPart = Inner(theNumber: number) }

        /// The level of the number.
        struct Inner: Codable { var theNumber: Number }
    }

    static let fromSnake: [(String, String)] = [
        ("", ""), ("z", "z"), ("SHOUTED", "SHOUTED"), ("LOUD_WORDS", "loudWords"), ("word", "word"),
        ("two_words", "twoWords"), ("red_green_blue", "redGreenBlue"), ("take_5_steps", "take5Steps"),
        ("take5_steps", "take5Steps"), ("big_\u{160}ip", "big\u{160}ip"), ("big_\u{161}ip", "big\u{160}ip"),
        ("isCamelNow", "isCamelNow"), ("__up_and_down", "__upAndDown"), ("_up_and_down", "_upAndDown"),
        ("up__and__down", "upAndDown"), ("up_and_down_", "upAndDown_"), ("up_and_down__", "upAndDown__"),
        ("up_aNd_down", "upAndDown"), ("_up_and_down_", "_upAndDown_"), ("__up_and_down__", "__upAndDown__"),
        ("_item", "_item"), ("_item_", "_item_"), ("__item", "__item"), ("item__", "item__"), ("_", "_"), ("__", "__"),
        ("___", "___"),
        (
            "o\u{349}dG\u{326}e\u{31F}tU\u{347}R\u{359}L\u{325}x",
            "o\u{349}dG\u{326}e\u{31F}tU\u{347}R\u{359}L\u{325}x"
        ),
        ("\u{1F332}_\u{1F335}", "\u{1F332}\u{1F335}"),
    ]

    static let toSnake: [(String, String)] = [
        ("redGreenBlue", "red_green_blue"), ("anHTML", "an_html"), ("lastLetterQ", "last_letter_q"),
        ("readAnHTMLPage", "read_an_html_page"), ("word", "word"), ("", ""), ("z", "z"), ("zZ", "z_z"),
        ("part7Name", "part7_name"), ("endCAPS", "end_caps"), ("endCAPSMiddleOVER", "end_caps_middle_over"),
        ("aLongNameOfManyWords", "a_long_name_of_many_words"), ("big\u{160}ip", "big_\u{161}ip"),
        ("is_snake_now", "is_snake_now"), ("room31", "room31"), ("room31Door", "room31_door"),
        ("_upAndDown", "_up_and_down"), ("upAndDown_", "up_and_down_"), ("__upAndDown", "__up_and_down"),
        ("upAndDown__", "up_and_down__"), ("_upAndDown_", "_up_and_down_"), ("__upAndDown__", "__up_and_down__"),
        ("_item", "_item"), ("_item_", "_item_"), ("__item", "__item"), ("item__", "item__"),
        (
            "o\u{349}dG\u{326}e\u{31F}tU\u{347}R\u{359}L\u{325}Y\u{316}x",
            "o\u{349}d_g\u{326}e\u{31F}t_u\u{347}r\u{359}l\u{325}_y\u{316}x"
        ),
        ("\u{1F332}\u{1F335}", "\u{1F332}\u{1F335}"),
    ]

    static let keys: [Fact] = [
        Fact("decodingKeyStrategyCamel") {
            for (snake, camel) in fromSnake {
                let found: Offered = try JSONDecoder.with(snake: true).read("{\"\(snake)\":true}")
                try equal(found.names, [camel])
            }
        },
        Fact("encodingKeyStrategySnake") {
            for (camel, snake) in toSnake {
                let value = JSONOutputFacts.Written { encoder in
                    var values = encoder.container(keyedBy: Name.self)
                    try values.encode("it", forKey: Name(camel))
                }
                try equal(try JSONEncoder.with(snake: true).write(value), "{\"\(snake)\":\"it\"}")
            }
        },
        Fact("encodingDictionaryStringKeyConversionUntouched") {
            try equal(try JSONEncoder.with(snake: true).write(["stayAsYouAre": "it"]), #"{"stayAsYouAre":"it"}"#)
        },
        Fact("keyStrategySnakeGeneratedAndCustom") {
            let text = #"{"own_name":"1","second_of_two":"2"}"#
            try survives(Mixed(), as: text, .with(.sortedKeys, snake: true), .with(snake: true))
        },
        Fact("decodingKeyStrategyCamelGenerated") {
            try equal(try JSONEncoder.with(snake: true).write(Camel(twoWords: "it")), #"{"two_words":"it"}"#)
        },
        Fact("encodingKeyStrategySnakeGenerated") {
            try equal(try JSONDecoder.with(snake: true).read(#"{"two_words":"it"}"#, as: Camel.self).twoWords, "it")
        },
        Fact("decodingStringExpectedType") {
            let error = try fails { try JSONDecoder().read(#"{"twoWords": null}"#, as: Camel.self) }
            guard case DecodingError.valueNotFound(let type, _) = error else { throw error }
            try isTrue(type == String.self)
        },
        Fact("decodingDictionaryFailureKeyPathNested") {
            let text = #"{"one_key": {"next_key": {"inner_part": {"the_number": "text"}}}}"#
            let error = try fails {
                try JSONDecoder.with(snake: true).read(text, as: [String: [String: Outer<Int>]].self)
            }
            try equal(codingPath(error), ["one_key", "next_key", "innerPart", "theNumber"])
        },
        Fact("encodingDictionaryFailureKeyPath") {
            let value = ["one_key": Outer(Double.nan).innerPart]
            let error = try fails { try JSONEncoder.with(snake: true).write(value) }
            try equal(codingPath(error), ["one_key", "theNumber"])
        },
        Fact("encodingDictionaryFailureKeyPathNested") {
            let error = try fails { try JSONEncoder.with(snake: true).write(["key": ["next_key": Outer(Double.nan)]]) }
            try equal(codingPath(error), ["key", "next_key", "innerPart", "theNumber"])
        },
    ]
}
