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
    public static let globalDomain = "NSGlobalDomain"
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

    public func object(forKey key: String) -> Any? { value(key)?.asAny }
    public func string(forKey key: String) -> String? { value(key)?.asString }
    public func array(forKey key: String) -> [Any]? { value(key)?.arrayValue?.map(\.asAny) }
    public func dictionary(forKey key: String) -> [String: Any]? { value(key)?.dictionaryValue?.asAny }
    public func data(forKey key: String) -> Data? { value(key)?.dataValue }
    public func stringArray(forKey key: String) -> [String]? { value(key)?.asStringArray }
    public func integer(forKey key: String) -> Int { value(key)?.asInteger ?? 0 }
    public func float(forKey key: String) -> Float { value(key)?.asFloat ?? 0 }
    public func double(forKey key: String) -> Double { value(key)?.asDouble ?? 0 }
    public func bool(forKey key: String) -> Bool { value(key)?.asBoolean ?? false }

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

    public func set(_ value: Int, forKey key: String) { set([(key, .integer(PropertyList.Integer(value)))]) }
    public func set(_ value: Float, forKey key: String) { set([(key, .real(Double(value)))]) }
    public func set(_ value: Double, forKey key: String) { set([(key, .real(value))]) }
    public func set(_ value: Bool, forKey key: String) { set([(key, .boolean(value))]) }
    public func set(_ url: URL?, forKey key: String) { set([(key, url.map { .string($0.asSetting) })]) }
    public func set(_ value: PropertyList, forKey key: String) { set([(key, value)]) }
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

    public func removeSuite(named suiteName: String) {
        setSuites { suites in suites.removeAll { $0.text == suiteName } }
    }

    // MARK: Whole domains

    /// All values in force, each as `object(forKey:)` gives it.
    public func dictionaryRepresentation() -> [String: Any] {
        let entries = refreshed { table in table.entries.filter { !$0.key.isHidden }.mapValues(\.value) }
        return entries.mapValues(\.asAny)
    }

    public var volatileDomainNames: [String] {
        [Self.argumentDomain, Self.registrationDomain] + store.process.namedDomains.names
    }

    public func volatileDomain(forName domainName: String) -> [String: Any] {
        volatileLayer(domainName)?.snapshot().values.asAny ?? store.process.namedDomains[domainName]?.asAny ?? [:]
    }

    public func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
        let values = converted(domain)
        if let layer = volatileLayer(domainName) {
            layer.replaceAll(values)
        } else {
            store.process.namedDomains[domainName] = values
        }
    }

    public func removeVolatileDomain(forName domainName: String) {
        if let layer = volatileLayer(domainName) {
            layer.replaceAll([:])
        } else {
            store.process.namedDomains[domainName] = nil
        }
    }

    private func volatileLayer(_ domainName: String) -> OpenDomain? {
        switch domainName {
        case Self.argumentDomain: store.process.arguments
        case Self.registrationDomain: store.process.volatile(name, .registered)
        default: nil
        }
    }

    /// The user's own values of a domain; nil where there are none.
    public func persistentDomain(forName domainName: String) -> [String: Any]? {
        guard let domain = persistent(domainName) else { return nil }
        domain.look()
        var values = domain.snapshot().values
        values.removeAll { $0.key.isHidden }
        return values.isEmpty ? nil : values.asAny
    }

    public func setPersistentDomain(_ domain: [String: Any], forName domainName: String) {
        var values = converted(domain)
        for key in domain.keys where !key.isFitForWriting {
            values[key] = nil
            post(.refused(key: key, reason: StoreFailure(.badKey(key), domainName).description))
        }
        replacePersistent(domainName, with: values)
    }

    private func replacePersistent(_ domainName: String, with values: PropertyList.Dictionary) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            domain.look()
            let (stored, status) = domain.stored()
            let schema = name == self.name ? self.schema : store.process.schemas[name]
            let removed = stored.keys.filter { values[$0] == nil && !$0.isHidden }.map { ($0, PropertyList?.none) }
            let changes = values.filter { !$0.key.isHidden }.map { ($0.key, PropertyList?.some($0.value)) } + removed
            try schema?.rules.check(changes, over: stored, status, domainName)
            let beginning = stored.isEmpty && !values.isEmpty ? schema?.rules.beginning ?? [] : []
            domain.set(changes.filter { stored[$0.0] != $0.1 } + beginning)
        } catch {
            for (key, reason) in error.reasons(of: Array(values.keys)) { post(.refused(key: key, reason: reason)) }
        }
    }

    public func removePersistentDomain(forName domainName: String) { persistent(domainName)?.removeAll() }

    private func persistent(_ domainName: String) -> OpenDomain? {
        guard let name = try? DomainName(domainName) else {
            post(.refused(key: domainName, reason: "this is no name of a domain"))
            return nil
        }
        return name == self.name ? target : store.process.target(of: name)
    }

    private func converted(_ values: [String: Any]) -> PropertyList.Dictionary {
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

    public func objectIsForced(forKey key: String, inDomain domain: String) -> Bool {
        guard let name = try? DomainName(domain) else { return false }
        return Defaults(name, in: store).objectIsForced(forKey: key)
    }
}
