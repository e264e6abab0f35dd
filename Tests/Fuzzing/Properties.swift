internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A violated property.
struct BrokenProperty: Error, CustomStringConvertible {
    let target: Target
    let description: String

    init(_ target: Target, _ description: String) {
        self.target = target
        self.description = "\(target.rawValue): \(description)"
    }
}

/// A way to write a value and read it back, which must give the same value.
private struct RoundTrip {
    let name: String
    let format: PropertyList.Format
    var writing = PropertyList.WritingOptions.default
    var reading = PropertyList.ReadingOptions()

    static let all: [RoundTrip] = [
        RoundTrip(name: "xml", format: .xml),
        RoundTrip(name: "binary", format: .binary),
        RoundTrip(name: "openstep", format: .openstep),
        RoundTrip(name: "openstep in ASCII", format: .openstep, writing: .with { $0.escapesNonASCII = true }),
        RoundTrip(name: "gnustep", format: .gnustep),
        RoundTrip(name: "gnustep in ASCII", format: .gnustep, writing: .with { $0.escapesNonASCII = true }),
        RoundTrip(name: "json", format: .json),
        RoundTrip(name: "pretty json", format: .json, writing: .with { $0.isPretty = true }),
        RoundTrip(
            name: "wrapped json", format: .json, writing: .with { $0.wrapsInJSON = true },
            reading: PropertyList.ReadingOptions(unwrapsJSON: true)),
        RoundTrip(name: "binary in order", format: .binary, writing: .with { $0.keepsKeyOrder = true }),
        RoundTrip(name: "toml", format: .toml),
        RoundTrip(name: "toml in order", format: .toml, writing: .with { $0.keepsKeyOrder = true }),
        RoundTrip(name: "xml in order", format: .xml, writing: .with { $0.keepsKeyOrder = true }),
    ]
}

extension PropertyList.WritingOptions {
    fileprivate static func with(_ change: (inout Self) -> Void) -> Self {
        var options = Self.default
        change(&options)
        return options
    }
}

/// Small enough that an input for a huge value does not slow down the search.
private let limits = PropertyList.Limits(expandedNodes: 100_000, expandedBytes: 1 << 22)

extension Target {
    /// Reads the bytes in every way that the target supports, and checks the properties of the results.
    func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        switch self {
        case .edit: try checkEdit(bytes)
        case .archive: try checkArchive(bytes)
        case .schema: try checkSchema(bytes)
        case .settings: try checkSettings(bytes)
        case .query: try checkQuery(bytes)
        case .pack: try checkPack(bytes)
        case .base: try checkBases(bytes)
        case .local: try checkLocal(bytes)
        case .command: try checkCommand(bytes)
        default: break
        }
        for options in readings {
            let answer = read(bytes, options)
            guard answer == read(bytes, options) else { throw BrokenProperty(self, "the same bytes, another answer") }
            switch answer {
            case .success(let value):
                for trip in RoundTrip.all { try check(value, trip) }
                if self == .cross { try checkSniffing(of: value, bytes, options) }
                if self == .binary { try checkLazyView(bytes, value) }
            case .failure(let failure): try check(failure, bytes)
            }
        }
    }

    private func read(
        _ bytes: UnsafeBufferPointer<UInt8>, _ options: PropertyList.ReadingOptions
    ) -> Result<PropertyList, DecodingFailure> {
        Result { () throws(DecodingFailure) in
            try PropertyList(parsing: bytes, as: format, limits: limits, options: options)
        }
    }

    /// A format that can hold a value returns the same value, and always writes the same bytes for it.
    private func check(_ value: PropertyList, _ trip: RoundTrip) throws(BrokenProperty) {
        guard let written = try? value.serialized(as: trip.format, options: trip.writing) else { return }
        let readBack: PropertyList
        do {
            readBack = try PropertyList(parsing: written, as: trip.format, options: trip.reading)
        } catch {
            throw BrokenProperty(self, "the bytes written as \(trip.name) are not readable: \(error)")
        }
        guard readBack == value else { throw BrokenProperty(self, "\(trip.name) gives another value back") }
        guard (try? readBack.serialized(as: trip.format, options: trip.writing)) == written else {
            throw BrokenProperty(self, "\(trip.name) writes other bytes for the value that it gave back")
        }
    }

    /// The value of a detected format is the value that the bytes have in that format.
    private func checkSniffing(
        of value: PropertyList, _ bytes: UnsafeBufferPointer<UInt8>, _ options: PropertyList.ReadingOptions
    ) throws(BrokenProperty) {
        let isHeld = PropertyList.Format.allCases.contains { format in
            value == (try? PropertyList(parsing: bytes, as: format, limits: limits, options: options))
        }
        guard isHeld else { throw BrokenProperty(self, "sniffed a value that no format reads") }
    }

    /// A failure has a place within the bytes, and a message.
    private func check(
        _ failure: DecodingFailure, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(BrokenProperty) {
        guard (0...bytes.count).contains(failure.offset) else {
            throw BrokenProperty(self, "a failure at \(failure.offset) of \(bytes.count) bytes: \(failure)")
        }
        guard !failure.description.isEmpty, failure.description.utf8.count < 10_000 + 8 * bytes.count else {
            throw BrokenProperty(self, "a failure without words, or with too many")
        }
        if let location = failure.location(in: bytes), location.line < 1 || location.column < 1 {
            throw BrokenProperty(self, "a failure in line \(location.line), column \(location.column)")
        }
    }
}
