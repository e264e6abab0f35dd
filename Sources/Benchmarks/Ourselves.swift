import PropertyLists

/// What this package takes for a trial, measured in this process by the rule that the drivers of the peers follow.
enum Ourselves {
    static let title = "ours"

    static func measure(_ trial: Trial, _ path: String) throws -> Measurement {
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
