package import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension PropertyList {
    /// The URL that a value stands for: a text with a scheme is one, any other text is the path of a file.
    ///
    /// A relative path begins in the working folder, and a folder's URL ends in a slash: for both, the file system is
    /// looked at, as Foundation does. Data is what Foundation on macOS keeps a URL as: an archive of it.
    ///
    /// - Parameter home: Says where the home of a user is, of `nil` the own one. A path with a tilde that it does not
    ///   know stays as it is.
    package func asURL(home: (_ user: String?) -> String?) -> URL? {
        switch self {
        case .string(let text):
            if text.hasScheme, let url = URL(string: text) { return url }
            return URL(filePath: text.expandingTilde(home), directoryHint: .checkFileSystem)
        case .data(let data): return Self.archivedURL(in: data)
        default: return nil
        }
    }

    /// The URL in a keyed archive whose root is one.
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
    /// What a reference inside an archive leads to.
    fileprivate func object(_ reference: PropertyList?) -> PropertyList? {
        guard case .uid(let number)? = reference, let index = Int(exactly: number), indices.contains(index) else {
            return nil
        }
        return self[index]
    }
}

extension String {
    /// Whether it begins as an absolute URL does: a letter, then letters, digits, `+`, `-` or `.`, then a colon.
    fileprivate var hasScheme: Bool {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), let first = utf8.first else { return false }
        return first.isLetter
            && utf8[..<colon].allSatisfy {
                $0.isLetter || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            }
    }

    /// With the home of a user in place of `~` or `~name` at its beginning.
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
