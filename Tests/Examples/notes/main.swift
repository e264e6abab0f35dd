import Foundation
import Preferences

/// Prints a line at once, also into a pipe.
func report(_ line: String, to file: FileHandle = .standardOutput) { file.write(Data("\(line)\n".utf8)) }

// The command line, the environment and the stored settings of this run.
let (settings, command) = try Notebook.program.parseOrExit()
let notebook = Notebook(settings: settings)

do {
    switch command {
    case .list: for line in notebook.lines { report(line) }
    case .add(let new): try notebook.add(Note(title: new.text, tags: new.tags))
    case .export: report(String(decoding: try notebook.exported(), as: UTF8.self))
    case .watch(let watch):
        for await count in notebook.counts {
            report("notes: \(count)")
            if count >= watch.until { break }
        }
    }
} catch {
    report("notes: \(error)", to: .standardError)
    exit(1)
}
