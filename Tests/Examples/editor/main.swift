import Preferences

extension Setting where Value == Int {
    static let fontSize = Setting("fontSize", default: 12).range(6...96)
}

let defaults = Defaults("com.example.editor")
try defaults.transaction { $0[.fontSize] += 1 }
print("the text is", defaults[.fontSize], "points high")
