/// A parser for lines of shell scripts. It removes quotes and backslashes, and expands nothing.
///
/// It supports what the scripts of this project use: words, comments, newlines between commands, and `|` within one.
package struct ShellScript {
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Commands, of which each but the last passes its output to the next.
    package typealias Pipeline = [[String]]

    private var rest: Substring.UnicodeScalarView

    package static func pipelines(_ text: String) throws -> [Pipeline] {
        var script = ShellScript(rest: text[...].unicodeScalars)
        var pipelines: [Pipeline] = []
        while !script.rest.isEmpty {
            let pipeline = try script.pipeline()
            if pipeline != [[]] { pipelines.append(pipeline) }
        }
        return pipelines
    }

    /// Parses the words of a single command.
    package static func words(_ line: String) throws -> [String] {
        guard let pipeline = try pipelines(line).first, pipeline.count == 1 else {
            throw Mistake(description: "not one command: \(line)")
        }
        return pipeline[0]
    }

    private mutating func pipeline() throws -> Pipeline {
        var commands: Pipeline = [[]]
        while let scalar = rest.first {
            switch scalar {
            case "\n":
                rest.removeFirst()
                return commands
            case " ", "\t": rest.removeFirst()
            case "|":
                rest.removeFirst()
                commands.append([])
            case "#": rest = rest.drop { $0 != "\n" }
            default: commands[commands.count - 1].append(try word())
            }
        }
        return commands
    }

    private mutating func word() throws -> String {
        var word = ""
        while let scalar = rest.first, !" \t\n|".unicodeScalars.contains(scalar) {
            rest.removeFirst()
            switch scalar {
            case "'": word += try text(until: "'", escapes: false)
            case "\"": word += try text(until: "\"", escapes: true)
            case "\\":
                guard let next = rest.popFirst() else { throw Mistake(description: "a backslash at the end") }
                word.unicodeScalars.append(next)
            default:
                guard !"$`;&<>()*?[]~!{}".unicodeScalars.contains(scalar) else {
                    throw Mistake(description: "\(scalar) would mean something to a shell")
                }
                word.unicodeScalars.append(scalar)
            }
        }
        return word
    }

    private mutating func text(until quote: Unicode.Scalar, escapes: Bool) throws -> String {
        var text = ""
        while let scalar = rest.popFirst() {
            if scalar == quote { return text }
            if escapes, scalar == "\\", let next = rest.first, "\"\\$`".unicodeScalars.contains(next) {
                text.unicodeScalars.append(rest.removeFirst())
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        throw Mistake(description: "a quote is not closed")
    }
}
