internal import Platform

extension FileName {
    /// The name of a property list without its extension, or nil for other and for temporary files.
    var propertyListStem: String? { stem(before: ".plist") }

    /// The name of a domain's folder without its extension, or nil for other names.
    var folderStem: String? { stem(before: ".prefs") }

    private func stem(before ending: String) -> String? {
        guard !isTemporary, let text = String(validating: bytes, as: UTF8.self), text.hasSuffix(ending) else {
            return nil
        }
        return String(text.dropLast(ending.count))
    }
}
