extension Double {
    /// The shortest text that parses as this number.
    package var word: String { description }
}
