internal import Platform

extension FileName {
    /// The name of a property list without its extension, or nil for other and for temporary files.
    var propertyListStem: String? {
        guard !isTemporary, let text = String(validating: bytes, as: UTF8.self), text.hasSuffix(".plist") else {
            return nil
        }
        return String(text.dropLast(".plist".count))
    }
}
