import Foundation
import PreferencesFoundation

// A program that was written for macOS. The import above and the next line are all that changed.
typealias UserDefaults = Defaults

/// The files that were opened last.
final class RecentFiles {
    private let defaults: UserDefaults

    init(defaults: UserDefaults = .standard) {
        self.defaults = defaults
        defaults.register(defaults: ["limit": NSNumber(value: 3), "showsNumbers": NSNumber(value: true)])
    }

    func open(_ path: String) {
        var paths = defaults.stringArray(forKey: "paths") ?? []
        paths.removeAll { $0 == path }
        paths.insert(path, at: 0)
        defaults.set(Array(paths.prefix(defaults.integer(forKey: "limit"))) as NSArray, forKey: "paths")
        let opened = (defaults.object(forKey: "opened") as? NSNumber)?.intValue ?? 0
        defaults.set(NSNumber(value: opened + 1), forKey: "opened")
    }

    var lines: [String] {
        let paths = defaults.array(forKey: "paths") as? [String] ?? []
        guard defaults.bool(forKey: "showsNumbers") else { return paths }
        return paths.enumerated().map { "\($0 + 1) \($1)" }
    }
}

let recent = RecentFiles()
for path in CommandLine.arguments.dropFirst() { recent.open(path) }
for line in recent.lines { print(line) }
UserDefaults.standard.synchronize()
