internal import Platform

/// Something that is not as it should be, and what mends it.
///
///     /home/ada/.config/prefs/d.plist: others can read it
///         chmod go-rwx /home/ada/.config/prefs/d.plist
struct Ailment: Hashable, Sendable {
    /// The file, or the domain and key.
    let place: String
    let problem: String
    let remedy: Remedy

    /// What is to be done about it.
    enum Remedy: Hashable, Sendable {
        /// A command, in words.
        case command([String])
        /// What no command does.
        case advice(String)
    }

    init(_ place: String, _ problem: String, _ remedy: Remedy) {
        self.place = place.onOneLine
        self.problem = problem.onOneLine
        self.remedy = remedy
    }

    /// The finding, and below it the line that a shell can be given: advice is a comment there.
    var lines: [String] { ["\(place): \(problem)", "    \(remedy.line)"] }
}

extension Ailment.Remedy {
    var line: String {
        switch self {
        case .command(let words): ShellWord.line(words)
        case .advice(let text): "# \(text.onOneLine)"
        }
    }

    /// A command on a file. One whose path no command line can be trusted with is left to a person.
    static func command(_ words: [String], on path: FilePath) -> Ailment.Remedy {
        guard let text = String(validating: path.bytes, as: UTF8.self), text == text.onOneLine else {
            return .advice("\(words.joined(separator: " ")), for the file of this name")
        }
        return .command(words + [text])
    }
}

/// One thing that the doctor looks at: a row of its own for each.
package struct Examination: Sendable {
    /// What is looked at, as the manual lists it.
    package let subject: String
    let find: @Sendable (Checkup) throws -> [Ailment]

    package static let all: [Examination] = [
        variables, permissions, folders, damage, leftovers, schemas, versions, values, unknownKeys, shadows,
        forcedFiles, closedLayers, temporaries, transactions, watching, mirrors,
    ]
}
