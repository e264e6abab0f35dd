/// A positional argument of a verb.
package struct Operand: Hashable, Sendable {
    /// The kind of argument, which determines its completions.
    package enum Kind: Hashable, Sendable {
        case domain, key, file, folder
        /// A key that exists in the domain or is declared by its schema.
        case declaredKey
        case domainOrFile
        /// A domain, DOMAIN@LAYER or a file.
        case compared
        /// The number of a kept version of the domain.
        case version
        /// A predicate, or the name of a request that the domain's schema declares.
        case query
        case verb
        case word
        case choice(Choice)
        /// The words of a value.
        case value
        /// A type flag with the words of its value.
        case typedValue
    }

    package enum Occurrence: Hashable, Sendable {
        case once, optional, oneOrMore, zeroOrMore
        /// Any number of words, after `--` if they look like options.
        case afterDashes
    }

    package let name: String
    package let kind: Kind
    package let occurrence: Occurrence

    package init(_ name: String, _ kind: Kind, _ occurrence: Occurrence = .once) {
        self.name = name
        self.kind = kind
        self.occurrence = occurrence
    }
}

extension Operand {
    package static let domain = Operand("DOMAIN", .domain)
    package static let anyDomain = Operand("DOMAIN", .domain, .optional)
    package static let key = Operand("KEY", .key)
    package static let anyKey = Operand("KEY", .key, .optional)
    package static let declaredKey = Operand("KEY", .declaredKey)
    package static let anyDeclaredKey = Operand("KEY", .declaredKey, .optional)
    package static let file = Operand("FILE", .file)
    package static let files = Operand("FILE", .file, .oneOrMore)

    /// The minimum and maximum number of words; nil for no maximum.
    var bounds: (least: Int, most: Int?) {
        switch occurrence {
        case .once: (1, 1)
        case .optional: (0, 1)
        case .oneOrMore: (1, nil)
        case .zeroOrMore, .afterDashes: (0, nil)
        }
    }

    /// The operand in a usage line.
    var usage: String {
        switch occurrence {
        case .once: name
        case .optional: "[\(name)]"
        case .oneOrMore: name + "…"
        case .zeroOrMore: "[\(name)…]"
        case .afterDashes: "[-- \(name)…]"
        }
    }
}

extension Operand.Kind {
    /// Whether the operand can be a domain.
    var isOfDomain: Bool { self == .domain || self == .domainOrFile || self == .compared }
}

extension [Operand] {
    /// Returns the kind of the operand at a position.
    func kind(at position: Int) -> Operand.Kind? {
        if indices.contains(position) { return self[position].kind }
        return last.flatMap { $0.bounds.most == nil ? $0.kind : nil }
    }
}
