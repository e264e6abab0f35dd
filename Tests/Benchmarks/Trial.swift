import PropertyLists

/// What is done with a load.
enum Operation: String {
    case read, write
    /// Read into, and written from, types of the program.
    case decode, encode

    var isTyped: Bool { self == .decode || self == .encode }
}

/// One thing that is measured: a cell of a table.
struct Trial: Hashable, CustomStringConvertible {
    let operation: Operation
    let format: PropertyList.Format
    let load: Load

    var description: String { "\(format.rawValue) \(load.rawValue) \(operation.rawValue)" }
}
