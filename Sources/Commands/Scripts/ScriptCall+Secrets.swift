internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension ScriptCall {
    /// The secret that a flag says where to read.
    func secret(_ request: Schema.Arguments.SecretRequest) throws(Schema.Arguments.Mistake) -> PropertyList {
        let read = Result { try bytes(of: request.source) }
        switch read {
        case .failure(let error):
            let reason = Command.explanation(of: error).1.joined(separator: "; ")
            throw Schema.Arguments.Mistake(.unreadableSecret(reason), at: request.flag)
        case .success(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Schema.Arguments.Mistake(.unreadableSecret("is no text in UTF-8"), at: request.flag)
            }
            return try schema.secret(text, for: request)
        }
    }

    private func bytes(of source: Schema.Arguments.SecretRequest.Source) throws -> [UInt8] {
        switch source {
        case .descriptor(let number): try secret(from: number)
        case .file(let name): try secret(in: name)
        }
    }

    private func secret(in name: String) throws -> [UInt8] {
        // What a shell makes of `<(…)` is a descriptor of ours under the name of a file.
        for folder in ["/dev/fd/", "/proc/self/fd/"] where name.hasPrefix(folder) {
            if let number = Int32(name.dropFirst(folder.count)) { return try secret(from: number) }
        }
        let path = try surroundings.path(name)
        guard let file = try surroundings.fileSystem.open(path, .reading) else {
            throw CommandFailure(.notFound, "\(path): no such file".onOneLine)
        }
        let status = try file.status()
        guard status.kind == .file else { throw CommandFailure(.systemFailed, "\(path): is no file".onOneLine) }
        guard !status.isExposed else {
            throw CommandFailure(.usage, "\(path): others can read this file; chmod 600 mends it".onOneLine)
        }
        return try file.contents(status, limit: Self.mostBytesOfSecret)
    }

    private func secret(from descriptor: Int32) throws -> [UInt8] {
        let read = Result { () throws(SystemFailure) in
            try surroundings.terminal.input(from: descriptor, limit: Self.mostBytesOfSecret)
        }
        if case .failure(let failure) = read, failure.code == .badDescriptor {
            throw CommandFailure(.usage, "\(descriptor) is no descriptor that is open")
        }
        return try read.get()
    }

    private static let mostBytesOfSecret = 64 << 10
}
