package import PropertyLists

extension Schema {
    /// The key in the user's file that stores the version of its settings.
    package static let versionKey = "$schemaVersion"

    /// The settings in a domain are of a newer version than this schema knows. They can be read but not written.
    package struct NewerVersion: Error, Hashable, Sendable {
        package let domain: String
        package let stored: Int
        package let known: Int

        package init(domain: String, stored: Int, known: Int) {
            (self.domain, self.stored, self.known) = (domain, stored, known)
        }
    }

    /// Returns the version of the settings in a domain. Without a stored version it is 1, or the current one if the
    /// domain is empty.
    package func storedVersion(of values: PropertyList.Dictionary) -> Int {
        if let stored = values[Self.versionKey]?.count, stored >= 1 { return stored }
        return values.isEmpty ? version : 1
    }

    /// Returns whether a domain must be migrated before it is written. Renamed keys alone do not require it.
    package func needsMigration(_ values: PropertyList.Dictionary) -> Bool { storedVersion(of: values) < version }

    /// Returns the keys under which a setting's value may be stored, the current one first.
    package func keys(of key: String) -> [String] { [key] + (anyDeclaration(of: key)?.renamedFrom ?? []) }

    /// Returns the value of a setting, including one under a former key.
    package func value(of key: String, in values: PropertyList.Dictionary) -> PropertyList? {
        for key in keys(of: key) { if let value = values[key] { return value } }
        return nil
    }
}

extension Schema.NewerVersion: CustomStringConvertible {
    package var description: String {
        "\(domain) has settings of version \(stored), but this program supports versions up to \(known) only; they are not changed"
    }
}
