package import PropertyLists

extension Schema {
    /// The key in the user's file that says which version of the settings it holds.
    package static let versionKey = "$schemaVersion"

    /// A domain holds settings of a version that this schema does not know: it may be read, not written.
    package struct NewerVersion: Error, Hashable, Sendable {
        package let domain: String
        package let stored: Int
        package let known: Int

        package init(domain: String, stored: Int, known: Int) {
            (self.domain, self.stored, self.known) = (domain, stored, known)
        }
    }

    /// The version of the settings in a domain. One that says none is of the first, unless it is empty.
    package func storedVersion(of values: PropertyList.Dictionary) -> Int {
        if let stored = values[Self.versionKey]?.count, stored >= 1 { return stored }
        return values.isEmpty ? version : 1
    }

    /// Whether a domain must be migrated before it is written to. Settings under old names are moved by the way.
    package func needsMigration(_ values: PropertyList.Dictionary) -> Bool { storedVersion(of: values) < version }

    /// The keys under which a setting's value may be found, the present one first.
    package func keys(of key: String) -> [String] { [key] + (anyDeclaration(of: key)?.renamedFrom ?? []) }

    /// The value of a setting, also where it still stands under an old key.
    package func value(of key: String, in values: PropertyList.Dictionary) -> PropertyList? {
        for key in keys(of: key) { if let value = values[key] { return value } }
        return nil
    }
}

extension Schema.NewerVersion: CustomStringConvertible {
    package var description: String {
        "\(domain) holds settings of version \(stored), this program knows them up to \(known); they are not changed"
    }
}
