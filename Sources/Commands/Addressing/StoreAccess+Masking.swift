internal import Preferences
internal import PropertyLists

extension StoreAccess {
    /// What of a domain's values is never shown. No schema is asked yet, so that is nothing.
    func masking(_ domain: AddressedDomain) -> Masking { .none }
}
