internal import Platform
package import PropertyLists

/// What the user has set of the store itself, in the domain `prefs`.
package struct StorePolicy: Sendable, Hashable {
    package var history = HistoryPolicy()
    /// How long to wait for a lock.
    package var patience: Duration = .seconds(5)
    /// The format of new domains.
    package var newFormat = PropertyList.Format.binary

    package init() {}

    /// The domain of these settings.
    package static let domain: DomainName = "prefs"

    /// The policy that the values of the domain say. What is out of bounds there does not count.
    package init(_ values: PropertyList.Dictionary) {
        func number(_ key: String, _ bounds: ClosedRange<Int>) -> Int? {
            values[key]?.integerValue.flatMap { Int(exactly: $0) }.flatMap { bounds.contains($0) ? $0 : nil }
        }
        if let versions = number("historyVersions", 0...10_000) { history.versions = versions }
        if let bytes = number("historyBytes", 0...(1 << 40)) { history.bytes = bytes }
        if let seconds = values["lockTimeout"]?.asSeconds, seconds >= 0, seconds <= 3600 {
            patience = .seconds(seconds)
        }
        if let word = values["newDomainFormat"]?.stringValue {
            let formats: [String: PropertyList.Format] = [
                "binary1": .binary, "binary": .binary, "xml1": .xml, "xml": .xml, "json": .json, "gnustep": .gnustep,
            ]
            newFormat = formats[word] ?? newFormat
        }
    }

    /// The policy that holds in a store. One that cannot be read is the one that nobody has changed.
    package init(in places: StorePlaces, on machine: Machine) {
        let contents = try? places.user.file(of: Self.domain).contents(on: machine)
        self.init(contents?.values ?? [:])
    }
}

extension PropertyList {
    fileprivate var asSeconds: Double? {
        switch self {
        case .integer(let number): number.asDouble
        case .real(let number): number
        default: nil
        }
    }
}
