/// A word that this project does not use, and its replacement.
struct BannedWord: Sendable {
    let word: String
    let instead: String
    /// The prefixes of the paths in which the word is allowed.
    var exempt: [String] = []
    /// The prefix of the paths to which the rule applies.
    var scope = ""
    /// Whether the word is also forbidden in comments.
    var inComments = false

    static let all: [BannedWord] = [
        BannedWord(word: "try!", instead: "try, and in a test a throwing function or #require"),
        BannedWord(word: "as!", instead: "as?, and what to do with nil"),
        BannedWord(word: "withoutActuallyEscaping", instead: "an escaping parameter, for equal executables"),
        BannedWord(word: "fatalError(", instead: "a thrown error, or a type that has no such case"),
        BannedWord(
            word: "print(", instead: "a returned value; only commands write",
            exempt: ["Sources/Commands/", "Sources/prefs/"],
            scope: "Sources/"),
        BannedWord(word: "Date()", instead: "the Clock seam", exempt: ["Sources/Platform/", "Tests/Examples/"]),
        BannedWord(word: "Date.now", instead: "the Clock seam", exempt: ["Sources/Platform/"]),
        BannedWord(word: "sleep(", instead: "waiting for the event itself", scope: "Tests/"),
        BannedWord(
            word: "[String:", instead: "[Name:, because String compares by canonical equivalence",
            exempt: Array(stringKeys.keys), scope: "Sources/"),
        BannedWord(word: "TO" + "DO", instead: "an issue", inComments: true),
        BannedWord(word: "FIX" + "ME", instead: "an issue", inComments: true),
        BannedWord(word: "XX" + "X", instead: "an issue", inComments: true),
    ]

    /// The files whose dictionaries may have strings as keys, each with the reason.
    static let stringKeys = [
        // Dictionaries that a Swift program passes, or receives.
        "Sources/Preferences/Library/Defaults+Compatible.swift": "as in UserDefaults",
        "Sources/PreferencesFoundation/PreferencesFoundation.swift": "as in Foundation",
        "Sources/PropertyLists/PropertyList+Any.swift": "values of any Swift type",
        "Sources/PropertyLists/Codable/Decoder.swift": "a dictionary of the decoded type",
        "Sources/PropertyLists/Codable/Encoder.swift": "a dictionary of the encoded type",
        "Sources/Queries/Predicates/Predicate.swift": "converted at once",
        "Sources/Queries/Records/Query.swift": "converted at once",
        "Sources/SettingsSchema/Declaring/SchemaBuilder.swift": "literals in a declaration",
        // Variables of the environment.
        "Sources/Preferences/Domains/Store.swift": "variables of the environment",
        "Sources/Preferences/Library/Defaults.swift": "variables of the environment",
        "Sources/Preferences/Lookup/LayerStack.swift": "variables of the environment",
        "Sources/SettingsSchema/Arguments/Arguments.swift": "variables of the environment",
        // Fixed vocabularies.
        "Sources/PropertyLists/Archives/ArchivedObjects.swift": "names of Apple's classes",
        "Sources/PropertyLists/PortabilityNote.swift": "messages",
        "Sources/SettingsSchema/Reading/Schema+Attributes.swift": "attributes of schemas",
        "Sources/SchemaTools/Scripts/SettingDraft.swift": "words of declarations",
        "Sources/SettingsSchema/Model/ValueKind.swift": "units",
        // Names of the files of a mirror, which are ASCII.
        "Sources/MirrorEngine/Local/LocalState.swift": "packs and blobs",
        "Sources/MirrorEngine/Local/StateSummary.swift": "packs and blobs",
        "Sources/MirrorEngine/Protocol/Event.swift": "packs and blobs",
        "Sources/MirrorEngine/Protocol/Publisher.swift": "packs and blobs",
        "Sources/PreferencesMirror/Directory/SharedDirectory.swift": "packs and blobs",
        // Canonical equivalence is meant.
        "Sources/Preferences/Files/DomainStorage.swift": "keys whose files some file systems do not distinguish",
    ]

    /// Unclear phrases, which are forbidden in code, comments, messages, manuals, transcripts and scripts.
    static let phrases: [BannedWord] = [
        ("whoever", "the caller, the reader, the writer"), ("nobody knows", "unknown"),
        ("nobody has", "is not, no program has"),
        ("told of", "notified of"), ("tells of", "reports"), ("hears of", "is notified of"), ("is told", "is notified"),
        ("says nothing", "prints nothing"), ("says so", "reports it"), ("must be said", "is required"),
        ("stands there", "exists"), ("stands behind", "follows"), ("stands beside", "is next to"),
        ("stands in", "is in"), ("stands under", "is under"), ("stands first", "is first"),
        ("stands twice", "duplicate"),
        ("something stands", "unexpected text"), ("what stands", "the contents"),
        ("lies behind", "follows"), ("lies in", "is in"), ("lies there", "exists"),
        ("what mends", "how to fix"), ("mends", "fixes"), ("mended", "fixed"), ("mending", "fixing"),
        ("what was before", "the previous value"), ("the factory's", "the default"),
        ("as a truth", "as a Bool"), ("where it is none", "otherwise"),
        ("what is no", "anything but a"), ("as good as none", "treated as missing"),
        ("a mistake", "an error"), ("at fault", "invalid"),
        ("does not count", "is ignored"), ("takes part", "is mirrored"), ("take part", "are mirrored"),
        ("any more", "no longer"), ("by now", "now, since"), ("ever more", "more and more"),
        ("ever less", "less and less"), ("in the midst", "during"), ("for want of", "for lack of"),
        ("goes over to", "changes to"), ("no matter", "ignored, whatever"),
        ("lets go of", "releases"), ("let go of", "release"), ("found out", "detected"),
    ].flatMap { phrase, instead in
        [phrase, phrase.prefix(1).uppercased() + phrase.dropFirst()]
            .map { BannedWord(word: $0, instead: instead, exempt: ["Tests/Tidy/", "Tests/Corpus/"]) }
    }

    static func violations(in file: SourceFile) -> [Violation] {
        all.filter { $0.applies(to: file.path) }.flatMap { $0.violations(in: file) } + unprovenClaims(in: file)
    }

    /// The unclear phrases in a file in any language.
    static func phraseViolations(inPlainText file: SourceFile) -> [Violation] {
        phrases.filter { $0.applies(to: file.path) }.flatMap { $0.violations(in: file) }
    }

    private func applies(to path: String) -> Bool {
        path.hasPrefix(scope) && !exempt.contains { path.hasPrefix($0) }
    }

    private func violations(in file: SourceFile) -> [Violation] {
        guard file.mentions(word) else { return [] }
        return zip(1..., zip(file.code, file.comments))
            .filter { contains(in: $1.0) || inComments && contains(in: $1.1) }
            .map { line, _ in Violation(file.path, line: line, "\(word): write \(instead)") }
    }

    /// Whether the line contains the word as a whole word.
    private func contains(in line: String) -> Bool {
        let (line, word) = (Array(line.utf8), Array(word.utf8))
        func isPart(_ at: Int) -> Bool {
            guard line.indices.contains(at) else { return false }
            return switch line[at] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard line.count >= word.count else { return false }
        return (0...line.count - word.count).contains { start in
            let end = start + word.count
            return line[start] == word[0] && line[start..<end].elementsEqual(word)
                && !isPart(start - 1) && !(isPart(end - 1) && isPart(end))
        }
    }

    /// Unchecked claims to the compiler require a comment with their reason.
    private static func unprovenClaims(in file: SourceFile) -> [Violation] {
        let claims = ["@unchecked Sendable", "nonisolated(unsafe)"].filter(file.mentions)
        guard !claims.isEmpty else { return [] }
        return file.code.indices.compactMap { index in
            guard let claim = claims.first(where: file.code[index].contains) else { return nil }
            let nearby = file.comments[max(0, index - 4)...index]
            guard !nearby.contains(where: { $0.contains("because") }) else { return nil }
            return Violation(file.path, line: index + 1, "\(claim): needs a comment that says “because”")
        }
    }
}
