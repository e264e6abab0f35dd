import Foundation
import Preferences

/// Prints a line at once, also into a pipe.
func report(_ line: String, to file: FileHandle = .standardOutput) { file.write(Data("\(line)\n".utf8)) }

// The command line, the environment and the stored settings of this run.
let settings = try Notebook.schema.parseOrExit()
let notebook = Notebook(defaults: settings.defaults)

do {
    switch settings.command {
    case "add": try notebook.add(Note(title: settings[.text], tags: settings[.tags]))
    case "export": report(String(decoding: try notebook.exported(), as: UTF8.self))
    case "watch":
        for await count in notebook.counts {
            report("notes: \(count)")
            if count >= settings[.until] { break }
        }
    default: for line in notebook.lines { report(line) }
    }
} catch {
    report("notes: \(error)", to: .standardError)
    exit(1)
}
