import FoundationEssentials

// Compiled into the peer as well, so that both sides decode and encode the very same types.

/// The load N. JSON lacks dates and data, and both are text there.
struct Archive<Moment: Codable, Bytes: Codable>: Codable {
    struct Group: Codable {
        let label: String
        let index: Int
        let records: [String: Record]
    }

    struct Record: Codable {
        let id: Int
        let name: String
        let title: String
        let note: String
        let score: Double
        let ratio: Double
        let active: Bool
        let created: Moment
        let modified: Moment
        let blob: Bytes
        let tags: [String]
        let counts: [Int]
        let attrs: [String: String]
    }

    let version: Int
    let generator: String
    let groups: [String: Group]
}

/// The load F: texts under even numbers, integers under odd ones.
struct FlatTable: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        var holdsInteger: Bool { stringValue.utf8.last.map { $0 % 2 == 1 } ?? false }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var texts: [String: String] = [:]
    private var integers: [String: Int] = [:]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for key in container.allKeys {
            if key.holdsInteger {
                integers[key.stringValue] = try container.decode(Int.self, forKey: key)
            } else {
                texts[key.stringValue] = try container.decode(String.self, forKey: key)
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (key, text) in texts { try container.encode(text, forKey: Key(stringValue: key)) }
        for (key, integer) in integers { try container.encode(integer, forKey: Key(stringValue: key)) }
    }
}

/// The type that a load's file in a format decodes to, or nil where there is no such load.
func typeOfLoad(_ load: String, inJSON: Bool) -> (any Codable.Type)? {
    switch (load, inJSON) {
    case ("S", false): Settings<Date, Data>.self
    case ("S", true): Settings<String, String>.self
    case ("N", false): Archive<Date, Data>.self
    case ("N", true): Archive<String, String>.self
    case ("F", _): FlatTable.self
    default: nil
    }
}
