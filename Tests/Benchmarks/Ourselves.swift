import PropertyLists

/// The contender that is this package: this program, run as a driver like those of the peers.
enum Ourselves {
    static let description = PeerDescription(
        name: "ours", formats: [.xml, .binary, .json, .openstep], isTyped: true,
        run: "exec .build/release/Benchmarks formats-driver", hint: "swift build -c release")

    /// Answers commands on standard input as Tests/Peers/driver.h says.
    static func answerCommands() {
        Console.show("ready \(description.name)")
        while let command = readLine() {
            do {
                let (trial, path) = try parse(command)
                let measured = try measure(trial, path)
                Console.show("\(measured.nanoseconds) \(measured.bytes)")
            } catch {
                Console.show("\(error)")
            }
        }
    }

    private static func parse(_ command: String) throws -> (Trial, path: String) {
        let words = command.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4, let operation = Operation(rawValue: words[0]),
            let format = PropertyList.Format(rawValue: words[1]), let load = Load(rawValue: words[2])
        else { throw Failure("no command: \(command)") }
        return (Trial(operation: operation, format: format, load: load), words[3])
    }

    private static func measure(_ trial: Trial, _ path: String) throws -> Measurement {
        let bytes = try contents(of: path)
        let format = trial.format
        switch trial.operation {
        case .read:
            return try Measurement.of {
                _ = try PropertyList(parsing: bytes, as: format)
                return bytes.count
            }
        case .write:
            let value = try PropertyList(parsing: bytes, as: format)
            let options = writingOptions(for: format)
            return try Measurement.of { try value.serialized(as: format, options: options).count }
        case .decode, .encode:
            guard let type = typeOfLoad(trial.load.rawValue, inJSON: format == .json) else {
                throw Failure("no type for the load \(trial.load.rawValue)")
            }
            return try measureTyped(type, trial, bytes)
        }
    }

    private static func measureTyped<Value: Codable>(
        _ type: Value.Type, _ trial: Trial, _ bytes: [UInt8]
    ) throws -> Measurement {
        func decoded() throws -> Value { try PropertyList(parsing: bytes, as: trial.format).decoded(as: type) }
        guard trial.operation == .encode else {
            return try Measurement.of {
                _ = try decoded()
                return bytes.count
            }
        }
        let value = try decoded()
        let options = writingOptions(for: trial.format)
        return try Measurement.of {
            try PropertyList(encoding: value).serialized(as: trial.format, options: options).count
        }
    }

    /// Sorted keys, but not in JSON, whose peers don't sort.
    private static func writingOptions(for format: PropertyList.Format) -> PropertyList.WritingOptions {
        var options = PropertyList.WritingOptions()
        options.keepsKeyOrder = format == .json
        return options
    }
}
