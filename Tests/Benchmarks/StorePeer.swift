/// A settings store: how it is prepared and used.
struct StorePeer: Sendable {
    let name: String
    /// How to install it.
    let hint: String
    /// Its file, relative to its folder, or nil where a service keeps the file open.
    let file: String?
    /// Whether it has commands to measure. If not, `write`, `read` and `list` run its driver.
    let isCommand: Bool
    /// A driver with the modes of Tests/Peers/Sources/UserDefaultsPeer.
    let driver: [String]?
    /// Shell commands that must succeed first.
    let preparation: [String]
    /// A command that does not use the store.
    let start: [String]?
    let environment: @Sendable (_ folder: String) -> [String: String]
    let write: @Sendable (_ folder: String, _ key: String, _ value: String) -> [String]
    let read: @Sendable (_ folder: String, _ key: String) -> [String]
    /// Prints all keys, among other things.
    let list: @Sendable (_ folder: String) -> [String]
    let fill: Fill

    /// How to write many values at once.
    enum Fill: Sendable {
        /// Runs a command to whose words the prefix of the keys and their number are appended.
        case command([String])
        /// Runs a command that reads the header and one line for each key from standard input.
        case input([String], header: String, line: @Sendable (_ key: String, _ value: String) -> String)
        /// Writes the header and one line for each key to the file of the store.
        case file(header: String, line: @Sendable (_ key: String, _ value: String) -> String)
    }
}

extension StorePeer {
    static let all: [StorePeer] = [own, foundation, gnustep, dconf, git]

    private static let own = StorePeer(
        name: Row.ours, hint: "swift build -c release", file: ".config/prefs/\(domain).plist", isCommand: true,
        driver: [".build/release/Benchmarks", "store-driver", domain],
        preparation: [
            "swift build -c release --product Benchmarks", PackagedCommand.preparation,
        ],
        start: [PackagedCommand.path, "--version"],
        environment: { ["PATH": path, "HOME": $0] },
        write: { [PackagedCommand.path, "write", domain, $1, $2] },
        read: { [PackagedCommand.path, "read", domain, $1] },
        list: { _ in [PackagedCommand.path, "read", domain] },
        fill: .input([PackagedCommand.path, "import", domain, "-"], header: "") { "\($0) = \($1);" })

    private static let domain = "org.example.peer"
    private static let userDefaults = [".build/peers/foundation/release/UserDefaultsPeer", domain]
    private static let path = "/usr/local/bin:/usr/bin:/bin"

    private static let foundation = StorePeer(
        name: "Foundation", hint: "it comes with the Swift toolchain", file: ".config/\(domain).plist",
        isCommand: false, driver: userDefaults,
        preparation: ["swift build -c release --package-path Tests/Peers --scratch-path .build/peers/foundation"],
        start: nil,
        environment: { ["PATH": path, "HOME": $0, "CFFIXED_USER_HOME": $0] },
        write: { userDefaults + ["write", $1, $2] },
        read: { userDefaults + ["read", $1] },
        list: { _ in userDefaults + ["list"] },
        fill: .command(userDefaults + ["fill"]))

    private static let gnustep = StorePeer(
        name: "GNUstep", hint: "apt-get install gnustep-base-runtime", file: "Defaults/\(domain).plist",
        isCommand: true, driver: nil,
        preparation: ["command -v defaults"], start: ["defaults", "help"],
        environment: { ["PATH": path, "HOME": $0, "GNUSTEP_CONFIG_FILE": $0 + "/GNUstep.conf"] },
        write: { ["defaults", "write", domain, $1, $2] },
        read: { ["defaults", "read", domain, $1] },
        list: { _ in ["defaults", "read", domain] },
        fill: .input(["defaults", "write"], header: "") { "\(domain) \($0) \($1)" })

    private static let dconf = StorePeer(
        name: "dconf", hint: "apt-get install dconf-cli dconf-service dbus", file: nil, isCommand: true, driver: nil,
        preparation: ["command -v dconf", "command -v dbus-run-session"], start: ["dconf", "help"],
        environment: {
            [
                "PATH": path, "HOME": $0, "XDG_CONFIG_HOME": $0, "XDG_CACHE_HOME": $0 + "/cache",
                "XDG_RUNTIME_DIR": $0 + "/run",
            ]
        },
        write: { ["dconf", "write", "/peer/" + $1, "'\($2)'"] },
        read: { ["dconf", "read", "/peer/" + $1] },
        list: { _ in ["dconf", "dump", "/peer/"] },
        fill: .input(["dconf", "load", "/peer/"], header: "[/]\n") { "\($0)='\($1)'" })

    private static let git = StorePeer(
        name: "git config", hint: "apt-get install git", file: "settings", isCommand: true, driver: nil,
        preparation: ["command -v git"], start: ["git", "--version"],
        environment: { ["PATH": path, "HOME": $0] },
        write: { ["git", "config", "--file", $0 + "/settings", "peer." + $1, $2] },
        read: { ["git", "config", "--file", $0 + "/settings", "peer." + $1] },
        list: { ["git", "config", "--file", $0 + "/settings", "--list"] },
        fill: .file(header: "[peer]\n") { "\t\($0) = \($1)" })
}
