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
    var entries = PropertyList.Dictionary()
    /// The layers of the values in force; nil if all values are from one layer.
    var layers: [ExactKey: Layer]?

    fileprivate func layer(of key: String) -> Layer? { layers?[ExactKey(key)] }
}
