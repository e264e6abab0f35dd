internal import Preferences
internal import PropertyLists

/// That the values of a domain, in one layer or in force, have become others.
struct WatchedChange: Sendable {
    let domain: AddressedDomain
    let old: WatchedValues
    let new: WatchedValues

    /// The layer that a key's value came from or, once it is gone, was in.
    func layer(of key: String) -> Layer { new.layer(of: key) ?? old.layer(of: key) ?? domain.layer }
}

/// The values of a domain as they were when it was looked at.
struct WatchedValues: Sendable {
    var entries = PropertyList.Dictionary()
    /// The layers of the values in force; nil where all are those of one layer.
    var layers: [ExactKey: Layer]?

    fileprivate func layer(of key: String) -> Layer? { layers?[ExactKey(key)] }
}
