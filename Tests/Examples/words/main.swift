import Preferences

/// Counts the words of files, and shows those that occur most often.
///
/// This declaration defines all options: flags, variables, stored settings, checks and help are derived from it.
enum Order: String, Codable, Sendable, CaseIterable { case count, word }

struct WordsKeys: SettingKeys {
    let most = Setting("most", default: 10).range(1...1000).flag("most", "n").environment("WORDS_MOST")
        .title("How many words are shown")
    let order = Setting("order", default: Order.count).flag("order").title("What they are sorted by")
    let ignored = Setting("ignored", default: [String]()).flag("ignore").repeats().title("Words to leave out")
}

let schema = Schema("com.example.words", title: "Counts the words of files") { WordsKeys.self }.operands(0...)
let settings = Settings<WordsKeys>(try schema.parseOrExit())

var counts: [String: Int] = [:]
for path in settings.operands {
    let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    for word in text.lowercased().split(whereSeparator: { !$0.isLetter }) { counts[String(word), default: 0] += 1 }
}
for word in settings.ignored { counts[word.lowercased()] = nil }
let words = counts.sorted { one, other in
    if settings.order == .count, one.value != other.value { return one.value > other.value }
    return one.key < other.key
}
for (word, count) in words.prefix(settings.most) { print(count, word) }
