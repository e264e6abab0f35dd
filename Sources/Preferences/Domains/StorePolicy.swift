internal import Platform
package import PropertyLists
package import SettingsSchema

/// The settings of the store itself, in the domain `prefs`.
package struct StorePolicy: Sendable, Hashable {
    package var history = HistoryPolicy()
    /// The time to wait for a lock.
    package var patience: Duration = .seconds(5)
    /// The format of a new domain, or nil if each schema decides.
    package var newFormat: PropertyList.Format?
    /// Whether verbs that show read the user's layer alone, and not the values in force.
    package var readsUserLayer = false
    /// Whether new conflicts of mirrors are shown on the desktop.
    package var notifiesOfConflicts = false
    /// The path of the program that resolves conflicts of mirrors, or nil if there is none.
    package var conflictResolver: String?
    /// The keys of commands of the screens: names of commands, each with the names of its keys.
    package var screenKeys = PropertyList.Dictionary()

    package init() {}

    package static let domain: DomainName = "prefs"

    /// Makes the policy from the user's values of the domain.
    package init(_ values: PropertyList.Dictionary) { self.init([LayerSource(Origin(.user), values)]) }

    /// Makes the policy from the layers of the domain. Values that the schema does not allow are ignored.
    private init(_ layers: [LayerSource]) {
        // Most users never change any setting.
        guard layers.contains(where: { !$0.values.isEmpty }) else { return }
        let stack = LayerStack(layers, EffectiveSchema(Self.schema))
        func value(_ key: String) -> PropertyList? { stack[key].winner?.value }
        func number(_ key: String) -> Int? { value(key)?.integerValue.flatMap { Int(exactly: $0) } }
        if let versions = number(Key.versions) { history.versions = versions }
        if let bytes = number(Key.bytes) { history.bytes = bytes }
        if let seconds = value(Key.patience)?.realValue { patience = .seconds(seconds) }
        if let winner = stack[Key.format].winner, winner.origin.layer != .default {
            newFormat = PropertyList.Format.ofDomains.first { $0.name == winner.value?.stringValue }?.format
        }
        readsUserLayer = value(Key.reading)?.stringValue == Layer.user.name
        // Not from the global domain, which another host may have written through a mirror.
        func own(_ key: String) -> PropertyList? {
            stack[key].winner.flatMap { $0.origin.layer.isGlobal ? nil : $0.value }
        }
        if let notifies = own(Key.notifies)?.booleanValue { notifiesOfConflicts = notifies }
        conflictResolver = own(Key.resolver)?.stringValue
        screenKeys = value(Key.screenKeys)?.dictionaryValue ?? [:]
    }

    /// Returns the format of a new domain with a schema.
    package func format(by schema: Schema?) -> PropertyList.Format { newFormat ?? schema?.newFormat ?? .binary }

    /// Reads the policy of a store. Layers that cannot be read are ignored.
    package init(in places: StorePlaces, on system: SystemServices) {
        let files = (try? places.searchList(Self.domain)) ?? [(.user, places.user.file(of: Self.domain))]
        self.init((try? places.layers(in: files, by: { try $0.contents(on: system) }, orSkip: { _, _ in })) ?? [])
    }
}

extension StorePolicy {
    /// The schema of these settings. It is part of the program and needs no file.
    package static let schema: Schema = {
        let defaults = StorePolicy()
        var schema = Schema(domain: domain.text, title: "The store itself")
        schema.settings = [
            number(
                Key.versions, 0...10_000, defaults.history.versions, unit: "versions",
                "Versions to keep",
                "The number for each domain. With 0 there is no undo, and the next write removes the kept versions."),
            number(
                Key.bytes, 0...(1 << 40), defaults.history.bytes, kind: .size,
                "Bytes of all versions",
                "The total for one domain. The newest version and the one before it are always kept."),
            patience(defaults.patience), format, reading, notifies(defaults.notifiesOfConflicts),
            resolver, screenKeys,
        ]
        return schema
    }()

    /// The keys, which are documented in the manual.
    enum Key {
        static let versions = "historyVersions"
        static let bytes = "historyBytes"
        static let patience = "lockTimeout"
        static let format = "newDomainFormat"
        static let reading = "readLayer"
        static let notifies = "mirrorNotify"
        static let resolver = "mirrorResolver"
        static let screenKeys = "screenKeys"
    }

    private static func number(
        _ key: String, _ bounds: ClosedRange<Int>, _ defaultValue: Int, kind: ValueKind? = nil, unit: String? = nil,
        _ title: String, _ summary: String
    ) -> SettingDeclaration {
        var rule = ValueRule(.integer)
        rule.minimum = .integer(PropertyList.Integer(bounds.lowerBound))
        rule.maximum = .integer(PropertyList.Integer(bounds.upperBound))
        rule.kind = kind
        var setting = setting(key, rule, .integer(PropertyList.Integer(defaultValue)), title, group: "History")
        (setting.summary, setting.unit) = (summary, unit)
        return setting
    }

    private static func patience(_ defaultValue: Duration) -> SettingDeclaration {
        var rule = ValueRule(.real)
        (rule.minimum, rule.maximum) = (.real(0), .real(3600))
        var setting = setting(
            Key.patience, rule, .real(defaultValue / .seconds(1)), "Time-out for locks", group: "Writing")
        setting.summary = "The time that a writer waits for other writers."
        setting.unit = "seconds"
        return setting
    }

    private static var format: SettingDeclaration {
        var rule = ValueRule(.string)
        rule.choices = PropertyList.Format.ofDomains.map { .string($0.name) }
        return setting(Key.format, rule, .string("binary1"), "Format of new domains", group: "Writing")
    }

    private static var reading: SettingDeclaration {
        var rule = ValueRule(.string)
        rule.choices = [.string("all"), .string(Layer.user.name)]
        var setting = setting(Key.reading, rule, .string("all"), "Layers that are read", group: "Reading")
        setting.summary = "With user, commands show the user's layer alone, and not the values in force."
        return setting
    }

    private static func notifies(_ defaultValue: Bool) -> SettingDeclaration {
        var setting = setting(
            Key.notifies, ValueRule(.boolean), .boolean(defaultValue), "Notify of conflicts", group: "Mirrors")
        setting.summary = "New conflicts of mirrors are shown by notify-send."
        return setting
    }

    private static var resolver: SettingDeclaration {
        var rule = ValueRule(.string)
        rule.kind = .file
        var setting = setting(Key.resolver, rule, nil, "Program that resolves conflicts", group: "Mirrors")
        setting.summary = "The absolute path of a program, which gets each new conflict of a mirror."
        return setting
    }

    private static var screenKeys: SettingDeclaration {
        var rule = ValueRule(.dictionary)
        rule.contents = .each(ValueRule(.string))
        var setting = setting(Key.screenKeys, rule, nil, "Keys of the screens", group: "Screens")
        setting.summary = "Commands of browse and form, each with its keys, separated by spaces."
        return setting
    }

    private static func setting(
        _ key: String, _ rule: ValueRule, _ defaultValue: PropertyList?, _ title: String, group: String
    ) -> SettingDeclaration {
        var setting = SettingDeclaration(key, rule)
        (setting.defaultValue, setting.title, setting.group) = (defaultValue, title, group)
        return setting
    }
}
