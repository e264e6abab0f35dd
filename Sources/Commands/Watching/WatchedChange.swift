internal import Preferences
internal import PropertyLists

/// A change of a domain's values, in one layer or in force.
struct WatchedChange: Sendable {
    let domain: AddressedDomain
    let old: WatchedValues
    let new: WatchedValues

    /// Returns the layer of a key's new value or, if it was removed, of its old value.
    func layer(of key: String) -> Layer { new.layer(of: key) ?? old.layer(of: key) ?? domain.layer }
}

/// The values of a domain at one time.
struct WatchedValues: Sendable {
    let entries: PropertyList.Dictionary
    /// The values in force; nil for those of one layer.
    private let inForce: ValuesInForce?

    init(entries: PropertyList.Dictionary = [:]) { (self.entries, inForce) = (entries, nil) }

    init(inForce: ValuesInForce) { (entries, self.inForce) = (inForce.entries, inForce) }

    fileprivate func layer(of key: String) -> Layer? { inForce?.origin(of: ExactKey(key))?.layer }
}
