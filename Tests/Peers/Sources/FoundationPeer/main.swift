// Measures Foundation: its readers and writers of property lists and JSON, and its encoders and decoders of typed
// values. Commands and the rule of measuring: Tests/Peers/driver.h.

import Foundation

struct Command {
    let operation: String
    let format: String
    let load: String
    let path: String

    init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4 else { return nil }
        (operation, format, load, path) = (words[0], words[1], words[2], words[3])
    }

    var isJSON: Bool { format == "json" }
    var plistFormat: PropertyListSerialization.PropertyListFormat { format == "xml" ? .xml : .binary }
}

func read(_ command: Command, _ data: Data) throws -> Any {
    command.isJSON
        ? try JSONSerialization.jsonObject(with: data)
        : try PropertyListSerialization.propertyList(from: data, format: nil)
}

func write(_ command: Command, _ value: Any) throws -> Data {
    command.isJSON
        ? try JSONSerialization.data(withJSONObject: value)
        : try PropertyListSerialization.data(fromPropertyList: value, format: command.plistFormat, options: 0)
}

func decode<Value: Decodable>(_ type: Value.Type, _ command: Command, _ data: Data) throws -> Value {
    command.isJSON ? try JSONDecoder().decode(type, from: data) : try PropertyListDecoder().decode(type, from: data)
}

func encode(_ command: Command, _ value: some Encodable) throws -> Data {
    guard !command.isJSON else { return try JSONEncoder().encode(value) }
    let encoder = PropertyListEncoder()
    encoder.outputFormat = command.plistFormat
    return try encoder.encode(value)
}

func measureTyped<Value: Codable>(_ type: Value.Type, _ command: Command, _ data: Data) throws -> Measurement {
    guard command.operation == "encode" else {
        return try Measurement.of {
            _ = try decode(type, command, data)
            return data.count
        }
    }
    let value = try decode(type, command, data)
    return try Measurement.of { try encode(command, value).count }
}

func measure(_ command: Command) throws -> Measurement? {
    let data = try Data(contentsOf: URL(filePath: command.path))
    switch command.operation {
    case "read":
        return try Measurement.of {
            _ = try read(command, data)
            return data.count
        }
    case "write":
        let value = try read(command, data)
        return try Measurement.of { try write(command, value).count }
    default:
        return try typeOfLoad(command.load, inJSON: command.isJSON).map { try measureTyped($0, command, data) }
    }
}

/// Prints a line immediately, because `print` would buffer it.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

say("ready Foundation")
while let line = readLine() {
    let measurement = Command(line).flatMap { try? measure($0) }
    say(measurement.map { "\($0.nanoseconds) \($0.bytes)" } ?? "failed")
}
