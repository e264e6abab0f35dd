import PropertyLists

/// A reader or writer that others made, and how to have it measured.
struct PeerDescription {
    let name: String
    let formats: [PropertyList.Format]
    var isTyped = false
    /// A command of the shell that builds the driver into `Peer.folder`.
    var build: String?
    /// A command of the shell that runs the driver.
    let run: String
    /// What to install where either fails.
    let hint: String
}

extension PeerDescription {
    static let all: [PeerDescription] = [
        PeerDescription(
            name: "Foundation", formats: [.xml, .binary, .json], isTyped: true,
            build: "swift build -c release --package-path Tests/Peers --scratch-path \(Peer.folder)/foundation",
            run: "\(Peer.folder)/foundation/release/FoundationPeer",
            hint: "it comes with the Swift toolchain"),
        PeerDescription(
            name: "plistlib", formats: [.xml, .binary],
            run: "exec python3 Tests/Peers/python.py plistlib", hint: "apt-get install python3"),
        PeerDescription(
            name: "orjson", formats: [.json],
            run: "exec python3 Tests/Peers/python.py orjson", hint: "pip install orjson"),
        PeerDescription(
            name: "libplist", formats: [.xml, .binary],
            build: """
                cc -O2 -DVERSION="\\"$(pkg-config --modversion libplist-2.0)\\"" -o \(Peer.folder)/libplist \
                Tests/Peers/libplist.c $(pkg-config --cflags --libs libplist-2.0)
                """,
            run: "\(Peer.folder)/libplist", hint: "apt-get install gcc pkg-config libplist-dev"),
        PeerDescription(
            name: "GNUstep", formats: [.openstep],
            build: """
                gcc -std=gnu11 $(gnustep-config --objc-flags) -MF \(Peer.folder)/gnustep.d -o \(Peer.folder)/gnustep \
                Tests/Peers/gnustep.m $(gnustep-config --base-libs)
                """,
            run: "\(Peer.folder)/gnustep", hint: "apt-get install gcc gobjc libgnustep-base-dev"),
    ]
}

extension PeerDescription {
    static func measuring(_ trial: Trial) -> [PeerDescription] { all.filter { $0.measures(trial) } }

    func measures(_ trial: Trial) -> Bool { formats.contains(trial.format) && (isTyped || !trial.operation.isTyped) }
}

/// A peer whose driver runs.
struct Peer {
    static let folder = ".build/peers"

    let description: PeerDescription
    /// Its name and version, as the driver says them.
    let title: String

    init(_ description: PeerDescription) throws {
        self.description = description
        if let build = description.build {
            Console.note("building the driver of \(description.name)")
            guard try Subprocess.run("mkdir -p \(Self.folder) && \(build)") else {
                throw Failure("its driver does not build")
            }
        }
        title = try description.startDriver().title
    }

    /// The peers for these formats whose drivers run, and of each other one why it does not.
    static func contenders(in formats: [PropertyList.Format]) -> (present: [Peer], absent: [String]) {
        var (present, absent) = ([Peer](), [String]())
        for description in PeerDescription.all where formats.contains(where: description.formats.contains) {
            do {
                present.append(try Peer(description))
            } catch {
                absent.append("\(description.name): not measured: \(error) (\(description.hint))")
            }
        }
        return (present, absent)
    }
}

extension PeerDescription {
    fileprivate func startDriver() throws -> (driver: Subprocess, title: String) {
        let driver = try Subprocess(run)
        guard let words = driver.receive()?.split(separator: " ", maxSplits: 1), words.count == 2, words[0] == "ready"
        else { throw Failure("its driver does not start") }
        return (driver, String(words[1]))
    }

    /// Measures in a process that has done nothing else: what one has read before leaves its memory in pieces.
    func measure(_ trial: Trial, _ path: String) throws -> Measurement {
        let driver = try startDriver().driver
        try driver.send("\(trial.operation.rawValue) \(trial.format.rawValue) \(trial.load.rawValue) \(path)")
        guard let answer = driver.receive() else { throw Failure("its driver ended") }
        let words = answer.split(separator: " ")
        guard words.count == 2, let nanoseconds = Double(words[0]), let bytes = Int(words[1]) else {
            throw Failure("its driver says: \(answer)")
        }
        return Measurement(nanoseconds: nanoseconds, bytes: bytes)
    }
}
