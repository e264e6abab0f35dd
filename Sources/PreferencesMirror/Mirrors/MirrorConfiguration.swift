package import MirrorEngine
package import Platform
internal import Preferences
internal import PropertyLists

/// What a person has said of a mirror on this host: where its directory is, and what takes part.
package struct MirrorConfiguration: Hashable, Sendable {
    package var directory: FilePath
    package var selection = DomainSelection()
    /// What this host is called.
    package var label: String
    package var seed = Seeding.merge
    /// Whether all has been taken up that was there when the selection was made: from then on a domain that comes up is
    /// a change like any other, and none that only fills gaps.
    package var isSeeded = false
    /// Whether the mirror was chosen by its number, so that another marker beside its own does not matter.
    package var isChosen = false

    package init(directory: FilePath, label: String) {
        self.directory = directory
        self.label = label
    }
}

extension MirrorConfiguration {
    /// Whether a person has said the same.
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

    /// Nil for anything that is no configuration.
    init?(_ value: PropertyList) {
        guard let bytes = value["directory"]?.dataValue, let directory = FilePath(bytes), directory.isAbsolute,
            let label = value["label"]?.stringValue
        else {
            return nil
        }
        self.init(directory: directory, label: label)
        selection = DomainSelection(value["domains"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        let number = value["seed"]?.integerValue.flatMap { UInt8(exactly: $0) }
        seed = number.flatMap { Seeding(rawValue: $0) } ?? .merge
        isSeeded = value["seeded"]?.booleanValue ?? false
        isChosen = value["chosen"]?.booleanValue ?? false
    }

    /// What a folder of a mirror says; nil for a folder that is none.
    init?(in folder: FilePath, _ fileSystem: any FileSystem) {
        let path = folder.appending(Self.fileName)
        guard let bytes = (try? fileSystem.contents(of: path, limit: 1 << 20)) ?? nil,
            let value = try? PropertyList(parsing: bytes, as: .xml)
        else {
            return nil
        }
        self.init(value)
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
