internal import Platform

/// A finding of the doctor, and how to fix it.
///
///     /home/ada/.config/prefs/d.plist: others can read it
///         chmod go-rwx /home/ada/.config/prefs/d.plist
struct DoctorFinding: Hashable, Sendable {
    /// The file, or the domain and key.
    let place: String
    let problem: String
    let remedy: Remedy

    /// A way to fix the problem.
    enum Remedy: Hashable, Sendable {
        /// A command, as words.
        case command([String])
        /// Advice, where no command can fix the problem.
        case advice(String)
    }

    init(_ place: String, _ problem: String, _ remedy: Remedy) {
        self.place = place.onOneLine
        self.problem = problem.onOneLine
        self.remedy = remedy
    }

    /// The finding, followed by a line that can be pasted into a shell; advice is a comment.
    var lines: [String] { ["\(place): \(problem)", "    \(remedy.line)"] }
}

extension DoctorFinding.Remedy {
    var line: String {
        switch self {
        case .command(let words): ShellWord.line(words)
        case .advice(let text): "# \(text.onOneLine)"
        }
    }

    /// Returns a command on a file, or advice if its path cannot safely be on a command line.
    static func command(_ words: [String], on path: FilePath) -> DoctorFinding.Remedy {
        guard let text = String(validating: path.bytes, as: UTF8.self), text == text.onOneLine else {
            return .advice("\(words.joined(separator: " ")), for the file of this name")
        }
        return .command(words + [text])
    }

    /// Returns a command on a file and another path.
    static func command(_ words: [String], on path: FilePath, _ other: FilePath) -> DoctorFinding.Remedy {
        guard case .command(let all) = command(words, on: path), case .command(let last) = command([], on: other) else {
            return command(words, on: path)
        }
        return .command(all + last)
    }
}

/// A check that the doctor performs.
package struct DoctorCheck: Sendable {
    /// The subject of the check, as listed in the manual.
    package let subject: String
    let find: @Sendable (DoctorContext) throws -> [DoctorFinding]

    package static let all: [DoctorCheck] = [
        variables, permissions, folders, damage, leftovers, foreignFiles, schemas, versions, values, unknownKeys,
        forcedFiles, closedLayers, temporaries, libraryFiles, transactions, watching, mirrors,
    ]
}
