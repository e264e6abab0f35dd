internal import PropertyLists
internal import SettingsSchema

extension Defaults {
    /// The value of a setting. A stored value of another type is ignored and reported as an issue.
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

    /// Reports a value that could not be set.
    func post(refusal error: any Error, of key: String) {
        let reasons = (error as? StoreFailure)?.reasons(of: [key]) ?? [(key, "\(error)")]
        for (key, reason) in reasons { post(.refused(key: key, reason: reason)) }
    }

    /// Returns the value of a setting. Throws if the stored value has another type.
    public func value<Value>(of setting: Setting<Value>) throws -> Value {
        guard let stored = value(setting.key) else { return setting.defaultValue }
        // A declaration in the domain's schema was applied when the layers were resolved.
        guard let declaration = setting.ownDeclaration, schema?.declarations[ExactKey(setting.key)] == nil else {
            return try stored.decodedStrictly(as: Value.self)
        }
        return try stack[declaration].winner?.value?.decodedStrictly(as: Value.self) ?? setting.defaultValue
    }

    /// Sets a value, which is visible to the whole process at once and is written to the disk shortly after.
    public func set<Value>(_ value: Value, for setting: Setting<Value>) throws {
        let encoded = try PropertyList.encoded(value)
        try setting.check(encoded, name.text)
        try setChecked([(setting.key, encoded)])
    }

    /// Removes the user's value, so that the value of the next layer is used.
    public func reset<Value>(_ setting: Setting<Value>) { removeObject(forKey: setting.key) }

    /// Returns the origin of a setting's value, or nil for the setting's own default.
    public func origin<Value>(of setting: Setting<Value>) -> Origin? { origin(forKey: setting.key) }

    /// Sets a value if the present one is as expected, under the domain's lock and durably.
    ///
    /// Returns false, without a change, if the value was another.
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
    /// Throws if a value violates the setting's own declaration.
    func check(_ value: PropertyList?, _ domain: String) throws(StoreFailure) {
        guard let value, let declaration = ownDeclaration else { return }
        let problems = declaration.rule.problems(
            with: value, at: [EntryPath.Component(key)], isSecret: declaration.isSensitive)
        guard problems.isEmpty else { throw StoreFailure(.refused(problems), domain) }
    }
}

// MARK: Values

extension PropertyList {
    /// Decodes a value of exactly this type, without conversion.
    func decodedStrictly<Value: Decodable>(as type: Value.Type) throws -> Value {
        // A fast path for the types of most settings.
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

    /// Encodes a value. Returns nil for a value that represents none.
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

/// A type with a value that represents none.
private protocol Absence { var isAbsent: Bool { get } }

extension Optional: Absence {
    var isAbsent: Bool { self == nil }
}
