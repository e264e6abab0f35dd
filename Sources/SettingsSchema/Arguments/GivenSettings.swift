internal import PropertyLists

/// Where on the command line each setting was given, by its key.
///
/// No dictionary of Swift's: of each kind the first one takes longer to come about than a whole command line to be
/// read.
struct GivenSettings: Sendable {
    /// The flag or operand, and the text as it was written.
    typealias Place = (place: String, text: String?)

    private var positions = PropertyList.Dictionary()
    private var places: [Place] = []

    /// The last place of a key.
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
