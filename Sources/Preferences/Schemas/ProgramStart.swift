package import Platform
package import PropertyLists
package import SettingsSchema

// The steps that every program with declared settings takes when it starts, whether it is a script or written in Swift:
// it parses its command line with the stored values, migrates them, checks paths, saves flags, and only then runs.

extension LayerStack {
    /// Parses the command line of a program whose settings the layers have, and reads the secrets that it refers to.
    ///
    /// An invalid value that the administrator forces is a mistake too.
    package func arguments(
        _ words: [String], of schema: Schema, on system: SystemServices
    ) -> Schema.Arguments.Outcome {
        let variables = system.environment.variables
        var context = Schema.Arguments.Context(
            variables: Dictionary(variables.all.map { ($0.name, $0.value) }) { first, _ in first },
            stored: storedValues(), now: system.clock.wall.date)
        context.invalidVariables = Set(variables.changed)
        switch schema.arguments(words, in: context) {
        case .values(var arguments):
            var mistakes = forcedMistakes(command: arguments.command)
            guard mistakes.isEmpty else { return .mistakes(mistakes) }
            for request in arguments.secrets {
                do throws(Schema.Arguments.Mistake) {
                    arguments.values[request.key] = try schema.secret(for: request, on: system)
                } catch {
                    mistakes.append(error)
                }
            }
            return mistakes.isEmpty ? .values(arguments) : .mistakes(mistakes)
        case .mistakes(let mistakes): return .mistakes(mistakes + forcedMistakes())
        case let other: return other
        }
    }
}

extension Schema {
    /// Returns an error if the stored settings are of a newer version than the schema, or nil.
    package func newerVersion(in layers: [LayerSource]) -> NewerVersion? {
        let stored = layers.filter(\.layer.isOfUser).map { storedVersion(of: $0.values) }
        guard let stored = stored.max(), stored > version else { return nil }
        return NewerVersion(domain: domain, stored: stored, known: version)
    }

    /// Returns the paths among the values of a command's settings that must exist and do not, or the reverse.
    package func pathMistakes(
        in values: PropertyList.Dictionary, of command: String?, on fileSystem: any FileSystem
    ) -> [Arguments.Mistake] {
        settings(of: command).flatMap { setting in
            values[setting.key].map { setting.rule.pathMistakes($0, at: setting.writtenName, on: fileSystem) } ?? []
        }
    }
}

extension ValueRule {
    fileprivate func pathMistakes(
        _ value: PropertyList, at place: String, on fileSystem: any FileSystem
    ) -> [Schema.Arguments.Mistake] {
        if let element, let elements = value.arrayValue {
            return elements.flatMap { element.pathMistakes($0, at: place, on: fileSystem) }
        }
        guard let exists, let kind, kind.isPath, let text = value.stringValue else { return [] }
        let found = FilePath(ByteText.bytes(text)).flatMap { try? fileSystem.status(of: $0) } ?? nil
        let isThere = found != nil && (kind == .path || !exists || (found?.kind == .folder) == (kind == .folder))
        guard isThere != exists else { return [] }
        let expected = exists ? "an existing \(kind.rawValue)" : "\(kind.noun) that does not exist yet"
        return [.init(.value(text, .notOfKind(expected)), at: place)]
    }
}
