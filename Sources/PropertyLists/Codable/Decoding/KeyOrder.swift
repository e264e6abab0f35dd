/// Where the keys of one type were found the last time, in the order in which it asked for them.
///
/// A type asks for its keys in the same order each time, and many values of one type have them at the same places.
final class KeyOrder {
    // No access to these calls anything that could access them again, so Swift need not check that.
    @exclusivity(unchecked) private var positions: [Int] = []

    /// Whether there is more than one value of the type; otherwise nothing need be remembered.
    @exclusivity(unchecked) var isUsedAgain = false

    /// The most keys that are remembered; those after them are expected in the order of the file.
    private static let mostPositions = 128

    @inline(__always)
    func position(at question: Int) -> Int { question < positions.count ? positions[question] : question }

    func learn(_ position: Int, at question: Int) {
        guard question < Self.mostPositions else { return }
        while positions.count <= question { positions.append(positions.count) }
        positions[question] = position
    }
}
