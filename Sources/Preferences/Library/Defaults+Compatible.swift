internal import Platform
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// What Foundation's `UserDefaults` has, by its own names and with its own conversions, so that a program moves over by
// changing an import and a type's name. Where Foundation ends the program, a value is refused and told as an issue.

extension Defaults {
    /// The name under which the command line's values are known.
    public static let argumentDomain = "NSArgumentDomain"
    /// The name of the domain that counts for all programs.
    public static let globalDomain = "NSGlobalDomain"
    /// The name of the domain that `register(defaults:)` fills.
    public static let registrationDomain = "NSRegistrationDomain"

    /// The settings of the running program.
    public convenience init() { self.init(Self.standard.name) }

    /// The settings of a suite; of the running program without a name. Nil for a name that no domain can have.
    public convenience init?(suiteName: String?) {
        guard let suiteName else {
            self.init()
            return
        }
        guard let name = try? DomainName(suiteName) else { return nil }
        self.init(name)
    }

    // MARK: Getting

    /// The value in force, as a type of Swift or Foundation.
    public func object(forKey key: String) -> Any? { value(key)?.asAny }
    /// The value in force as text, numbers too; nil for any other type.
    public func string(forKey key: String) -> String? { value(key)?.asString }
    /// The value in force if it is an array.
    public func array(forKey key: String) -> [Any]? { value(key)?.arrayValue?.map(\.asAny) }
    /// The value in force if it is a dictionary.
    public func dictionary(forKey key: String) -> [String: Any]? { value(key)?.dictionaryValue?.asAny }
    /// The value in force if it is data.
    public func data(forKey key: String) -> Data? { value(key)?.dataValue }
    /// The value in force if it is an array of nothing but texts.
    public func stringArray(forKey key: String) -> [String]? { value(key)?.asStringArray }
    /// The value in force as an integer; 0 where it is none.
    public func integer(forKey key: String) -> Int { value(key)?.asInteger ?? 0 }
    /// The value in force as a number; 0 where it is none.
    public func float(forKey key: String) -> Float { value(key)?.asFloat ?? 0 }
    /// The value in force as a number; 0 where it is none.
    public func double(forKey key: String) -> Double { value(key)?.asDouble ?? 0 }
    /// The value in force as a truth; false where it is none.
    public func bool(forKey key: String) -> Bool { value(key)?.asBoolean ?? false }

    /// The value in force as a URL; nil where it is none.
    public func url(forKey key: String) -> URL? {
        let machine = store.process.machine
        return value(key)?.asURL { user in machine.home(of: user)?.description }
    }

    /// The value in force as it is, without any conversion.
    public func propertyList(forKey key: String) -> PropertyList? { value(key) }

    // MARK: Setting

    /// Sets what a property list can hold. Anything else is refused, and told as an issue.
    public func set(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        do {
            set([(key, try PropertyList(any: value))])
        } catch {
            post(.refused(key: key, reason: error.description))
        }
    }

    /// Sets an integer.
    public func set(_ value: Int, forKey key: String) { set([(key, .integer(PropertyList.Integer(value)))]) }
    /// Sets a number.
    public func set(_ value: Float, forKey key: String) { set([(key, .real(Double(value)))]) }
    /// Sets a number.
    public func set(_ value: Double, forKey key: String) { set([(key, .real(value))]) }
    /// Sets a truth.
    public func set(_ value: Bool, forKey key: String) { set([(key, .boolean(value))]) }
    /// Sets a URL, or removes the value for nil.
    public func set(_ url: URL?, forKey key: String) { set([(key, url.map { .string($0.asSetting) })]) }
    /// Sets any value.
    public func set(_ value: PropertyList, forKey key: String) { set([(key, value)]) }
    /// Removes the user's own value, so that a lower layer's comes into force.
    public func removeObject(forKey key: String) { set([(key, nil)]) }

    /// Sets the values that count where no layer has any. They are not stored.
    public func register(defaults registrationDictionary: [String: Any]) {
        let values = converted(registrationDictionary)
        store.process.volatile(name, .registered).set(values.map { ($0.key, $0.value) })
    }

    // MARK: Suites

    /// Lets the user's values in another domain show where this one has none. The last one that was added comes first.
    public func addSuite(named suiteName: String) {
        guard let suite = try? DomainName(suiteName), suite != name, !suite.isGlobal else { return }
        setSuites { suites in
            suites.removeAll { $0 == suite }
            suites.insert(suite, at: 0)
        }
    }

    /// Takes a suite out of the layers again.
    public func removeSuite(named suiteName: String) {
        setSuites { suites in suites.removeAll { $0.text == suiteName } }
    }

    func converted(_ values: [String: Any]) -> PropertyList.Dictionary {
        var converted = PropertyList.Dictionary(minimumCapacity: values.count)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            do {
                converted[key] = try PropertyList(any: value)
            } catch {
                post(.refused(key: key, reason: error.description))
            }
        }
        return converted
    }

    // MARK: The rest

    /// Writes what was set and looks at what others have written. False where something could not be written.
    @discardableResult
    public func synchronize() -> Bool {
        let isWritten = (try? flush()) != nil
        for source in sources { source.domain.look(isExact: true) }
        return isWritten
    }

    /// Whether the administrator has decided on the value.
    public func objectIsForced(forKey key: String) -> Bool { origin(forKey: key)?.layer == .forced }

    /// Whether the administrator forces the value in that domain.
    public func objectIsForced(forKey key: String, inDomain domain: String) -> Bool {
        guard let name = try? DomainName(domain) else { return false }
        return Defaults(name, in: store).objectIsForced(forKey: key)
    }
}
