package import MirrorEngine
package import Platform
internal import Preferences
internal import PropertyLists

/// The settings of a mirror on this host: its directory, and the domains that are mirrored.
package struct MirrorConfiguration: Hashable, Sendable {
    package var directory: FilePath
    package var selection = DomainSelection()
    /// The name of this host, as shown to others.
    package var label: String
    package var seed = Seeding.merge
    /// Whether all domains that existed when the selection was made are captured. From then on, a new domain is a
    /// change like any other, and does not just fill gaps.
    package var isSeeded = false
    /// Whether the mirror was selected by its number, so that other markers are ignored.
    package var isChosen = false

    package init(directory: FilePath, label: String) {
        self.directory = directory
        self.label = label
    }
}

extension MirrorConfiguration {
    /// Whether the settings that a user controls are the same.
    func isSame(as other: MirrorConfiguration) -> Bool {
        var other = other
        other.isSeeded = isSeeded
        return other == self
    }

    static let fileName: FileName = "mirror.plist"

    var encoded: PropertyList {
        [
            "directory": .data(Data(directory.bytes)), "domains": .array(selection.patterns.map { .string($0) }),
            "label": .string(label), "seed": .integer(PropertyList.Integer(Int(seed.rawValue))),
            "chosen": .boolean(isChosen), "seeded": .boolean(isSeeded),
        ]
    }

    /// Decodes a configuration. Returns nil for any other value.
    init?(_ value: PropertyList) {
        guard let bytes = value["directory"]?.dataValue, let directory = FilePath(bytes), directory.isAbsolute,
            let label = value["label"]?.stringValue
        else {
            return nil
        }
        self.init(directory: directory.normalized, label: label)
        selection = DomainSelection(value["domains"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        let number = value["seed"]?.integerValue.flatMap { UInt8(exactly: $0) }
        seed = number.flatMap { Seeding(rawValue: $0) } ?? .merge
        isSeeded = value["seeded"]?.booleanValue ?? false
        isChosen = value["chosen"]?.booleanValue ?? false
    }

    /// Reads the configuration in a mirror's folder. Returns nil if there is none, and throws if it cannot be read.
    static func read(
        in folder: FilePath, _ fileSystem: any FileSystem
    ) throws(MirrorFailure) -> MirrorConfiguration? {
        let path = folder.appending(Self.fileName)
        let bytes: [UInt8]
        do throws(SystemFailure) {
            guard let contents = try fileSystem.contents(of: path, limit: 1 << 20) else { return nil }
            bytes = contents
        } catch {
            throw MirrorFailure(error)
        }
        guard let value = try? PropertyList(parsing: bytes, as: .xml), let found = MirrorConfiguration(value) else {
            throw MirrorFailure(.damaged(file: path.description))
        }
        return found
    }

    func write(in folder: FilePath, _ fileSystem: any FileSystem) throws(MirrorFailure) {
        do {
            let bytes = Array(try encoded.serialized(as: .xml))
            try fileSystem.replace(folder.appending(Self.fileName), with: bytes)
        } catch {
            throw MirrorFailure(error)
        }
    }
}
