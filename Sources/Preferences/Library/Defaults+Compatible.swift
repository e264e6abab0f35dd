internal import Platform
public import PropertyLists
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// The API of Foundation's `UserDefaults`, with the same names and conversions, so that a program can migrate by
// changing an import and a type name. Where Foundation traps, the value is refused and reported as an issue.

extension Defaults {
    /// The name of the domain with the values of the command line.
    public static let argumentDomain = "NSArgumentDomain"
    /// The name of the global domain.
    public static let globalDomain = "NSGlobalDomain"
    /// The name of the domain that `register(defaults:)` fills.
    public static let registrationDomain = "NSRegistrationDomain"

    /// Opens the settings of the running program.
    public convenience init() { self.init(Self.standard.name) }

    /// Opens the settings of a suite, or of the running program for nil. Returns nil for an invalid domain name.
    public convenience init?(suiteName: String?) {
        guard let suiteName else {
            self.init()
            return
        }
        guard let name = try? DomainName(suiteName) else { return nil }
        self.init(name)
    }

    // MARK: Getting

    /// Returns the value of a key as a Swift or Foundation type.
    public func object(forKey key: String) -> Any? { value(key)?.anyValue }
    /// Returns the value of a key as `object(forKey:)` does.
    public func value(forKey key: String) -> Any? { object(forKey: key) }
    /// Returns the value of a key as a string, or nil if it is not a string, a number or a Boolean.
    public func string(forKey key: String) -> String? { value(key)?.asString }
    /// Returns the value of a key, or nil if it is not an array.
    public func array(forKey key: String) -> [Any]? { value(key)?.arrayValue?.map(\.anyValue) }
    /// Returns the value of a key, or nil if it is not a dictionary.
    public func dictionary(forKey key: String) -> [String: Any]? { value(key)?.dictionaryValue?.anyValue }
    /// Returns the value of a key, or nil if it is not data.
    public func data(forKey key: String) -> Data? { value(key)?.dataValue }
    /// Returns the value of a key, or nil if it is not an array that contains only strings.
    public func stringArray(forKey key: String) -> [String]? { value(key)?.asStringArray }
    /// Returns the value of a key as an integer, or 0 if it cannot be converted.
    public func integer(forKey key: String) -> Int { value(key)?.asInteger ?? 0 }
    /// Returns the value of a key as a number, or 0 if it cannot be converted.
    public func float(forKey key: String) -> Float { value(key)?.asFloat ?? 0 }
    /// Returns the value of a key as a number, or 0 if it cannot be converted.
    public func double(forKey key: String) -> Double { value(key)?.asDouble ?? 0 }
    /// Returns the value of a key as a Bool, or false if it cannot be converted.
    public func bool(forKey key: String) -> Bool { value(key)?.asBoolean ?? false }

    /// Returns the value of a key as a URL, or nil if it is not one. A path is a file URL.
    public func url(forKey key: String) -> URL? {
        let system = store.shared.system
        return value(key)?.asURL { user in system.home(of: user)?.description }
    }

    /// Returns the value of a key without conversion.
    public func propertyList(forKey key: String) -> PropertyList? { value(key) }

    // MARK: Setting

    /// Sets a value, or removes it for nil. A value that a property list cannot hold is refused and reported as an
    /// issue.
    public func set(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        do {
            set([(key, try PropertyList(any: value))])
        } catch {
            post(.refused(key: key, reason: error.description))
        }
    }

    /// Sets a value as `set(_:forKey:)` does.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

    /// Sets an integer.
    public func set(_ value: Int, forKey key: String) { set([(key, .integer(PropertyList.Integer(value)))]) }
    /// Sets a number, with the digits of the `Float`: 12.34, and not 12.34000015258789.
    public func set(_ value: Float, forKey key: String) { set([(key, .real(value.shortestDouble))]) }
    /// Sets a number.
    public func set(_ value: Double, forKey key: String) { set([(key, .real(value))]) }
    /// Sets a Bool.
    public func set(_ value: Bool, forKey key: String) { set([(key, .boolean(value))]) }
    /// Sets a URL, or removes the value for nil.
    public func set(_ url: URL?, forKey key: String) { set([(key, url.map { .string($0.asSetting) })]) }
    /// Sets a value of any kind.
    public func set(_ value: PropertyList, forKey key: String) { set([(key, value)]) }
    /// Removes the user's own value, so that the value of the next layer is used.
    public func removeObject(forKey key: String) { set([(key, nil)]) }

    /// Adds values that are used if no other layer has one. They are not stored.
    public func register(defaults registrationDictionary: [String: Any]) {
        let values = converted(registrationDictionary)
        store.shared.volatile(name, .registered).set(path.edits(values.map { ValueEdit($0.key, $0.value) }))
    }

    // MARK: Suites

    /// Adds the user's values in another domain as a layer after the user's own values. Of several suites, the one that
    /// was added last has the highest priority.
    public func addSuite(named suiteName: String) {
        guard let suite = try? DomainName(suiteName), suite != name, !suite.isGlobal else { return }
        setSuites { suites in
            suites.removeAll { $0 == suite }
            suites.insert(suite, at: 0)
        }
    }

    /// Removes a suite.
    public func removeSuite(named suiteName: String) {
        setSuites { suites in suites.removeAll { $0.text.hasSameBytes(as: suiteName) } }
    }

    func converted(_ values: [String: Any]) -> PropertyList.Dictionary {
        var converted = PropertyList.Dictionary(minimumCapacity: values.count)
        for (key, value) in values.sorted(by: { $0.key.isBefore($1.key) }) {
            do {
                let value = try PropertyList(any: value)
                if let reason = value.unfitness(under: key) {
                    post(.refused(key: key, reason: reason))
                } else {
                    converted[key] = value
                }
            } catch {
                post(.refused(key: key, reason: error.description))
            }
        }
        return converted
    }

    // MARK: Synchronization and forced values

    /// Writes pending changes, and reads those of other processes. Returns false if a change could not be written.
    @discardableResult
    public func synchronize() -> Bool {
        let isWritten = (try? flush()) != nil
        stack.checkFiles(isExact: true)
        return isWritten
    }

    /// Whether the administrator forces the value.
    public func objectIsForced(forKey key: String) -> Bool { origin(forKey: key)?.layer == .forced }

    /// Whether the administrator forces the value in a domain.
    public func objectIsForced(forKey key: String, inDomain domain: String) -> Bool {
        guard let name = try? DomainName(domain) else { return false }
        return Defaults(name, in: store).objectIsForced(forKey: key)
    }
}

// MARK: Whole domains

extension Defaults {
    /// Returns all values in force, converted as by `object(forKey:)`.
    public func dictionaryRepresentation() -> [String: Any] {
        var values = refreshed(\.values)
        values.removeAll(where: \.key.isHidden)
        return values.anyValue
    }

    /// The names of the volatile domains.
    public var volatileDomainNames: [String] {
        [Self.argumentDomain, Self.registrationDomain] + store.shared.namedDomains.names
    }

    /// Returns the values of a volatile domain.
    public func volatileDomain(forName domainName: String) -> [String: Any] {
        // The command line that the program has parsed takes the place of the words after its name.
        if domainName == Self.argumentDomain, let given = stack.layers.first(where: { $0.layer == .arguments }) {
            return given.values.anyValue
        }
        return volatileLayer(domainName)?.snapshot().values.anyValue
            ?? store.shared.namedDomains[domainName]?.anyValue ?? [:]
    }

    /// Replaces all values of a volatile domain.
    public func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
        let values = converted(domain)
        if let layer = volatileLayer(domainName) {
            layer.replaceAll(values)
        } else {
            store.shared.namedDomains[domainName] = values
        }
    }

    /// Removes a volatile domain.
    public func removeVolatileDomain(forName domainName: String) {
        if let layer = volatileLayer(domainName) {
            layer.replaceAll([:])
        } else {
            store.shared.namedDomains[domainName] = nil
        }
    }

    private func volatileLayer(_ domainName: String) -> OpenDomain? {
        switch domainName {
        case Self.argumentDomain: store.shared.arguments
        case Self.registrationDomain: store.shared.volatile(name, .registered)
        default: nil
        }
    }

    /// Returns the user's own values of a domain, or nil if there are none.
    public func persistentDomain(forName domainName: String) -> [String: Any]? {
        guard let domain = persistent(domainName) else { return nil }
        domain.checkFile()
        var values = domain.snapshot().values
        values.removeAll { $0.key.isHidden }
        return values.isEmpty ? nil : values.anyValue
    }

    /// Replaces all stored values of a domain.
    public func setPersistentDomain(_ domain: [String: Any], forName domainName: String) {
        var values = converted(domain)
        for key in domain.keys where !key.isFitForWriting {
            values[key] = nil
            post(.refused(key: key, reason: key.unfitness))
        }
        replacePersistent(domainName, with: values)
    }

    private func replacePersistent(_ domainName: String, with values: PropertyList.Dictionary) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            try checkReentrancy(of: domain, name)
            domain.checkFile()
            let stored = domain.stored
            let schema =
                name == self.name
                ? inForce.whole
                : store.shared.schemas.schemaInForce(of: name, isAdopted: domain.file?.isAdopted ?? false)
            let removed = stored.keys.filter { values[$0] == nil && !$0.isHidden }.map { ($0, PropertyList?.none) }
            let changes = values.filter { !$0.key.isHidden }.map { ($0.key, PropertyList?.some($0.value)) } + removed
            try schema?.rules.check(changes, over: stored, isExposed: domain.isExposed, domainName)
            let beginning = stored.isEmpty && !values.isEmpty ? schema?.rules.beginning ?? [] : []
            domain.set(changes.filter { stored[$0.0] != $0.1 } + beginning)
        } catch {
            report(error, of: Array(values.keys))
        }
    }

    /// Removes all stored values of a domain.
    public func removePersistentDomain(forName domainName: String) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            try checkReentrancy(of: domain, name)
            domain.removeAll()
        } catch {
            report(error, of: [])
        }
    }

    private func persistent(_ domainName: String) -> OpenDomain? {
        guard let name = try? DomainName(domainName) else {
            post(.refused(key: domainName, reason: "this is not a valid domain name"))
            return nil
        }
        return name == self.name ? target : store.shared.target(of: name)
    }
}
