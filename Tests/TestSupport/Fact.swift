import Foundation

/// What one of Foundation's published tests checks, in the words of this project.
///
/// The facts of a suite are written with the names of Foundation's types, so that they can also run against Foundation.
package struct Fact: Sendable {
    /// The name of the test.
    package let name: String
    package let check: @Sendable () throws -> Void

    package init(_ name: String, _ check: @escaping @Sendable () throws -> Void) {
        (self.name, self.check) = (name, check)
    }
}

/// What is found instead of a fact.
package struct Difference: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

// MARK: Checks

package func equal<T: Equatable>(_ found: T, _ expected: T, line: Int = #line) throws {
    guard found == expected else { throw Difference(description: "line \(line): \(found) instead of \(expected)") }
}

package func isTrue(_ condition: Bool, line: Int = #line) throws {
    guard condition else { throw Difference(description: "line \(line): false") }
}

/// Checks that `body` throws, and returns the error.
@discardableResult
package func fails<T>(line: Int = #line, _ body: () throws -> T) throws -> any Error {
    let value: T
    do { value = try body() } catch { return error }
    throw Difference(description: "line \(line): \(value) instead of an error")
}

/// The tests of a suite of Foundation that expect something else, as the article on differences lists them.
package struct ListedDifferences {
    private let text: String
    private let suite: String

    package init(suite: String) throws {
        self.suite = suite
        let article = "Sources/Preferences/Preferences.docc/DifferencesFromFoundation.md"
        text = try String(contentsOf: packageRoot.appending(path: article), encoding: .utf8)
    }

    /// What is wrong with the list: facts that do not hold and are not in it, others that are, and wrong counts.
    package func problems(with facts: [Fact]) -> [String] {
        var failures: [String: String] = [:]
        for fact in facts {
            do { try fact.check() } catch { failures[fact.name] = "\(error)" }
        }
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `\(suite)` |") }
            .map { $0.split(separator: "|").dropFirst().map { $0.trimmingCharacters(in: [" ", "`"]) } }
        let counts = ["\(facts.count)", "\(facts.count - failures.count)"]
        let listed = Set(rows.dropFirst().compactMap(\.first))
        return failures.filter { !listed.contains($0.key) }.map { "\($0.key) is not listed: \($0.value)" }
            + listed.subtracting(failures.keys).map { "\($0) is listed, but holds" }
            + Swift.Dictionary(grouping: facts, by: \.name).filter { $0.value.count > 1 }.map {
                "\($0.key) occurs twice"
            }
            + (rows.first.map { Array($0.prefix(2)) } == counts ? [] : ["the counts are \(counts)"])
    }
}
