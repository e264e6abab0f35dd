internal import PropertyLists

/// The flags and operands by which settings were given, by key.
///
/// Not a Swift dictionary: creating the first one of a type takes longer than parsing a whole command line.
struct GivenSettings: Sendable {
    /// The flag or operand, and the text as written.
    typealias Place = (place: String, text: String?)

    private var positions = PropertyList.Dictionary()
    private var places: [Place] = []

    /// The last place where the key was given.
    subscript(key: String) -> Place? {
        get { position(of: key).map { places[$0] } }
        set {
            guard let newValue else { return }
            if let position = position(of: key) {
                places[position] = newValue
            } else {
                positions[key] = .integer(PropertyList.Integer(places.count))
                places.append(newValue)
            }
        }
    }

    private func position(of key: String) -> Int? {
        guard case .integer(let number)? = positions[key] else { return nil }
        return Int(exactly: number)
    }
}
