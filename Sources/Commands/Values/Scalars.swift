extension Double {
    /// The shortest text that says this number.
    package var word: String { description }
}
