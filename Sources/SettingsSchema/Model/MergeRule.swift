/// How a mirror combines values of a setting that hosts write without having seen each other's.
public enum MergeRule: String, Hashable, Sendable, CaseIterable {
    /// The later value is in force, and the other is a conflict.
    case value
    /// The entries of a dictionary are combined one by one.
    case entries
    /// The elements of an array, whose order means nothing, are added and removed one by one.
    case set
    /// Changes of an integer are added up.
    case counter
    /// The greatest number, date or version is in force.
    case maximum
    /// The least number, date or version is in force.
    case minimum
    /// The dictionaries of an array are matched by a key, and combined entry by entry.
    case list

    /// The types to which the rule applies.
    package var types: [ValueType] {
        switch self {
        case .value: ValueType.allCases
        case .entries: [.dictionary, .any]
        case .set, .list: [.array]
        case .counter: [.integer]
        case .maximum, .minimum: [.integer, .real, .date, .string]
        }
    }
}
