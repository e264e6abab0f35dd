/// The variables of a process, in their order.
///
/// A list and no dictionary: a process looks at a few of them once, and its start is to take no time.
package struct EnvironmentVariables: Hashable, Sendable {
    package private(set) var all: [Variable] = []

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

    /// Adds what is not looked for before: of two variables of one name, the first one counts.
    mutating func append(_ name: String, _ value: String) { all.append(Variable(name: name, value: value)) }

    /// The variables with others over them.
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
