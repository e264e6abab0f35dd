import FoundationEssentials

// Compiled into the peer as well, so that both sides decode and encode the very same types.

/// The load N. JSON has no dates and no data, so both are strings there.
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

/// A value of the load F: a number or a text. Its key does not indicate which.
enum Setting: Codable {
    case number(Int)
    case text(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}

/// The type that a load's file in a format decodes to, or nil where there is no such load.
func typeOfLoad(_ load: String, inJSON: Bool) -> (any Codable.Type)? {
    switch (load, inJSON) {
    case ("S", false): Settings<Date, Data>.self
    case ("S", true): Settings<String, String>.self
    case ("N", false): Archive<Date, Data>.self
    case ("N", true): Archive<String, String>.self
    case ("F", _): [String: Setting].self
    default: nil
    }
}
