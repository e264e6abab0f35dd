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
            throw Failure("no bridge between Codable types and values yet")
        }
    }

    /// Sorted keys, but not in JSON, whose peers don't sort.
    private static func writingOptions(for format: PropertyList.Format) -> PropertyList.WritingOptions {
        var options = PropertyList.WritingOptions()
        options.keepsKeyOrder = format == .json
        return options
    }
}
