package import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension PropertyList {
    /// Converts the value to a URL. A text with a scheme is a URL, and any other text is the path of a file.
    ///
    /// A relative path starts in the working folder, and the URL of a folder ends in a slash. Both are resolved in the
    /// file system, like Foundation does. Data is a keyed archive of a URL, as Foundation on macOS stores it.
    ///
    /// - Parameter home: Returns the home of a user, or of the present user for nil. If it returns nil, the tilde is
    ///   kept.
    package func asURL(home: (_ user: String?) -> String?) -> URL? {
        switch self {
        case .string(let text):
            if text.hasScheme, let url = URL(string: text) { return url }
            return URL(filePath: text.expandingTilde(home), directoryHint: .checkFileSystem)
        case .data(let data): return Self.archivedURL(in: data)
        default: return nil
        }
    }

    /// Returns the URL at the root of a keyed archive.
    private static func archivedURL(in data: Data) -> URL? {
        guard let archive = try? PropertyList(parsing: data),
            case .array(let objects)? = archive["$objects"],
            let root = objects.object(archive["$top"]?["root"]),
            let text = objects.object(root["NS.relative"])?.stringValue
        else {
            return nil
        }
        guard let base = objects.object(root["NS.base"]) else { return nil }
        guard base["$class"] != nil else { return URL(string: text) }
        guard let baseText = objects.object(base["NS.relative"])?.stringValue, let url = URL(string: baseText) else {
            return nil
        }
        return URL(string: text, relativeTo: url)
    }
}

extension [PropertyList] {
    /// Resolves a reference inside an archive.
    fileprivate func object(_ reference: PropertyList?) -> PropertyList? {
        guard case .uid(let number)? = reference, let index = Int(exactly: number), indices.contains(index) else {
            return nil
        }
        return self[index]
    }
}

extension String {
    /// Whether the text begins with a scheme: a letter, then letters, digits, `+`, `-` or `.`, then a colon.
    fileprivate var hasScheme: Bool {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), let first = utf8.first else { return false }
        return first.isLetter
            && utf8[..<colon].allSatisfy {
                $0.isLetter || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            }
    }

    /// Returns the path with the home of a user in place of a leading `~` or `~name`.
    fileprivate func expandingTilde(_ home: (_ user: String?) -> String?) -> String {
        guard utf8.first == UInt8(ascii: "~") else { return self }
        let end = utf8.firstIndex(of: UInt8(ascii: "/")) ?? endIndex
        let user = String(self[..<end].dropFirst())
        guard let folder = home(user.isEmpty ? nil : user) else { return self }
        return folder + self[end...]
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
