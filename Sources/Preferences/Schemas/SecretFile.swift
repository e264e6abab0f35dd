internal import Platform
internal import PropertyLists
package import SettingsSchema

extension Schema {
    /// Reads the secret that a flag refers to: a file that nobody else can read, or an open descriptor.
    package func secret(
        for request: Arguments.SecretRequest, on system: SystemServices
    ) throws(Arguments.Mistake) -> PropertyList {
        let bytes: [UInt8]
        do throws(UnreadableSecret) {
            bytes = try system.bytes(of: request.source)
        } catch {
            throw Arguments.Mistake(.unreadableSecret("\(error)"), at: request.flag)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Arguments.Mistake(.unreadableSecret("\(UnreadableSecret.noText)"), at: request.flag)
        }
        return try secret(text, for: request)
    }
}

/// The reason a secret cannot be read.
private enum UnreadableSecret: Error {
    case noName
    case missing(FilePath)
    case noFile(FilePath)
    /// Others can read the file.
    case exposed(FilePath)
    case ofAnotherUser(FilePath)
    case closed(Int32)
    case noText
    case system(SystemFailure)
}

extension SystemServices {
    private static let mostBytesOfSecret = 64 << 10

    fileprivate func bytes(
        of source: Schema.Arguments.SecretRequest.Source
    ) throws(UnreadableSecret) -> [UInt8] {
        switch source {
        case .descriptor(let number): return try bytes(from: number)
        case .file(let name):
            // A shell replaces `<(…)` by the path of a descriptor.
            for folder in ["/dev/fd/", "/proc/self/fd/"] where name.hasPrefix(folder) {
                if let number = Int32(name.dropFirst(folder.count)) { return try bytes(from: number) }
            }
            guard let path = path(name) else { throw .noName }
            let read: Result<[UInt8], UnreadableSecret>
            do throws(SystemFailure) {
                read = try contents(ofSecret: path)
            } catch {
                throw .system(error)
            }
            return try read.get()
        }
    }

    /// Returns the file that a flag names. A shell does not expand a tilde after an equals sign.
    private func path(_ name: String) -> FilePath? {
        guard name.hasPrefix("~/"), let home = home(of: nil), let rest = FilePath(String(name.dropFirst(2))) else {
            return FilePath(name)
        }
        return home.resolving(rest)
    }

    private func contents(
        ofSecret path: FilePath
    ) throws(SystemFailure) -> Result<[UInt8], UnreadableSecret> {
        guard let file = try fileSystem.open(path, .reading) else { return .failure(.missing(path)) }
        let status = try file.status()
        guard status.kind == .file else { return .failure(.noFile(path)) }
        guard !status.isExposed else { return .failure(.exposed(path)) }
        guard !status.isExposed(to: environment.user) else { return .failure(.ofAnotherUser(path)) }
        return .success(try file.contents(status, limit: Self.mostBytesOfSecret))
    }

    private func bytes(from descriptor: Int32) throws(UnreadableSecret) -> [UInt8] {
        do throws(SystemFailure) {
            return try terminal.input(from: descriptor, limit: Self.mostBytesOfSecret)
        } catch {
            throw error.code == .badDescriptor ? .closed(descriptor) : .system(error)
        }
    }
}

extension UnreadableSecret: CustomStringConvertible {
    var description: String {
        switch self {
        case .noName: "a file name is required"
        case .missing(let path): "\(path): no such file".shown
        case .noFile(let path): "\(path): not a regular file".shown
        case .exposed(let path): "\(path): other users can read this file; fix it with chmod 600".shown
        case .ofAnotherUser(let path):
            "\(path): owned by another user, who can read it; a secret must be in a file of your own".shown
        case .closed(let descriptor): "\(descriptor) is not an open descriptor"
        case .noText: "is not UTF-8 text"
        case .system(let failure): failure.description
        }
    }
}
