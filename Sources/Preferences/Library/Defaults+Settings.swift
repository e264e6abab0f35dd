internal import PropertyLists
internal import SettingsSchema

extension Defaults {
    /// The value of a setting. What is stored in another type counts as missing, and is told as an issue.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        get {
            do {
                return try value(of: setting)
            } catch {
                post(.undecodable(key: setting.key, reason: "\(error)"))
                return setting.defaultValue
            }
        }
        set {
            do {
                try set(newValue, for: setting)
            } catch {
                post(refusal: error, of: setting.key)
            }
        }
    }

    /// Tells of a value that could not be set.
    func post(refusal error: any Error, of key: String) {
        let reasons = (error as? StoreFailure)?.reasons(of: [key]) ?? [(key, "\(error)")]
        for (key, reason) in reasons { post(.refused(key: key, reason: reason)) }
    }

    /// The value of a setting; an error where what is stored is not of its type.
    public func value<Value>(of setting: Setting<Value>) throws -> Value {
        guard let stored = value(setting.key) else { return setting.defaultValue }
        // What a schema of the domain says was heeded when the layers were looked up.
        guard let declaration = setting.ownDeclaration, schema?.declarations[ExactKey(setting.key)] == nil else {
            return try stored.decodedStrictly(as: Value.self)
        }
        for source in sources {
            guard case .usable(let value)? = source.verdict(on: declaration) else { continue }
            return try value.decodedStrictly(as: Value.self)
        }
        return setting.defaultValue
    }

    /// Sets a value for all of the process to see. It reaches the disk a little later.
    public func set<Value>(_ value: Value, for setting: Setting<Value>) throws {
        let encoded = try PropertyList.encoded(value)
        try setting.check(encoded, name.text)
        try setChecked([(setting.key, encoded)])
    }

    /// Removes the user's value, so that the next layer's shows.
    public func reset<Value>(_ setting: Setting<Value>) { removeObject(forKey: setting.key) }

    /// Where the value of a setting comes from; nil where the setting's own default counts.
    public func origin<Value>(of setting: Setting<Value>) -> Origin? { origin(forKey: setting.key) }

    /// Sets a value only if the present one is what is expected, under the domain's lock, and at once on the disk.
    ///
    /// False if the value was another; then nothing has changed.
    public func replace<Value: Equatable>(
        _ setting: Setting<Value>, expecting expected: Value, with value: Value
    ) throws -> Bool {
        let encoded = try PropertyList.encoded(value)
        try setting.check(encoded, name.text)
        _ = schema
        return try target.change(.write) { values in
            let current = try values[setting.key].map { try $0.decodedStrictly(as: Value.self) }
            guard current ?? setting.defaultValue == expected else { return false }
            values[setting.key] = encoded
            return true
        }
    }
}

extension Setting {
    /// Refuses a value that breaks what the setting itself declares.
    func check(_ value: PropertyList?, _ domain: String) throws(StoreFailure) {
        guard let value, let declaration = ownDeclaration else { return }
        let problems = declaration.rule.problems(
            with: value, at: [EntryPath.Component(key)], isSecret: declaration.isSensitive)
        guard problems.isEmpty else { throw StoreFailure(.refused(problems), domain) }
    }
}

// MARK: Values

extension PropertyList {
    /// The value in the type that a setting has; no conversion between types.
    func decodedStrictly<Value: Decodable>(as type: Value.Type) throws -> Value {
        // What most settings are need not be asked of a decoder.
        switch self {
        case .boolean(let flag): if let value = flag as? Value { return value }
        case .string(let text): if let value = text as? Value { return value }
        case .real(let number): if let value = number as? Value { return value }
        case .integer(let number):
            if type == Int.self, let value = Int(exactly: number) as? Value { return value }
        default: break
        }
        return try decoded(as: type)
    }

    /// What is stored of a value; nil for one that stands for none.
    static func encoded<Value: Encodable>(_ value: Value) throws -> PropertyList? {
        switch value {
        case let flag as Bool: .boolean(flag)
        case let text as String: .string(text)
        case let number as Int: .integer(Integer(number))
        case let number as Double: .real(number)
        case let optional as any Absence where optional.isAbsent: nil
        default: try PropertyList(encoding: value)
        }
    }
}

/// A value that may stand for none.
private protocol Absence { var isAbsent: Bool { get } }

extension Optional: Absence {
    var isAbsent: Bool { self == nil }
}
