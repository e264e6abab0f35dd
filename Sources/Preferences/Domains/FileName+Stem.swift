internal import Platform

extension FileName {
    /// What a property list is called without its ending; nil for any other file, and for one that is still being
    /// written.
    var stemOfPropertyList: String? {
        guard !isTemporary, let text = String(validating: bytes, as: UTF8.self), text.hasSuffix(".plist") else {
            return nil
        }
        return String(text.dropLast(".plist".count))
    }
}
