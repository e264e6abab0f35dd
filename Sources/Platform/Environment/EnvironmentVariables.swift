/// The variables of a process, in order.
///
/// A list rather than a dictionary: a process reads only a few, once, and building a dictionary would slow down its
/// start.
package struct EnvironmentVariables: Hashable, Sendable {
    package private(set) var all: [Variable] = []
    /// The names of variables whose values are not valid UTF-8.
    package private(set) var changed: [String] = []

    package struct Variable: Hashable, Sendable {
        package let name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package init() {}

    package subscript(name: String) -> String? {
        get { index(of: name).map { all[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): all[index].value = value
            case (let index?, nil): all.remove(at: index)
            case (nil, let value?): append(name, value)
            case (nil, nil): break
            }
        }
    }

    /// Appends a variable without a search. If a name occurs twice, the first one is used.
    ///
    /// - Parameter isChanged: Whether invalid UTF-8 in the value has been replaced.
    mutating func append(_ name: String, _ value: String, isChanged: Bool = false) {
        all.append(Variable(name: name, value: value))
        if isChanged { changed.append(name) }
    }

    /// Returns the variables with `others` replacing those of the same name.
    package func merging(_ others: EnvironmentVariables) -> EnvironmentVariables {
        others.all.reduce(into: self) { $0[$1.name] = $1.value }
    }

    private func index(of name: String) -> Int? { all.firstIndex { $0.name == name } }
}

extension EnvironmentVariables: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }
}
