/// The two commands in one executable. The name of the call selects one.
///
/// They share all verbs and differ in the grammar of words, in how words make a value, and in how a value is printed.
package enum Dialect: Hashable, Sendable {
    /// `prefs`: options anywhere, literal values, UTF-8 and JSON.
    case modern
    /// `defaults`: the grammar, the values and the output of macOS.
    case classic

    package init(program: String) { self = program == "defaults" ? .classic : .modern }
}

extension Dialect {
    /// The format in which values are printed unless another is requested; nil for a scalar as itself and everything
    /// else as JSON.
    var valueFormat: FormatName? { self == .classic ? .classic : nil }

    /// Returns a flag for the type of a value, as this command documents it.
    func spelling(_ flag: TypeFlag) -> String { self == .classic ? flag.rawValue : "-" + flag.rawValue }
}
