internal import PropertyLists

// MARK: Descriptions

extension Setting {
    /// Sets a short description for help and forms.
    public func title(_ title: String) -> Setting { declaring { $0.title = title } }
    /// Sets a longer description, in sentences.
    public func summary(_ summary: String) -> Setting { declaring { $0.summary = summary } }
    /// Sets the heading under which help and forms show the setting.
    public func group(_ group: String) -> Setting { declaring { $0.group = group } }
    /// Sets the name of the value in help, such as N in `--keep N`.
    public func placeholder(_ placeholder: String) -> Setting { declaring { $0.placeholder = placeholder } }
    /// Sets the unit of a number.
    public func unit(_ unit: String) -> Setting { declaring { $0.unit = unit } }
    /// Excludes the setting from help and completions.
    public func hidden() -> Setting { declaring { $0.isHidden = true } }
    /// Marks the setting as deprecated, with an optional reason.
    public func deprecated(_ reason: String = "") -> Setting { declaring { $0.deprecated = reason } }
}

// MARK: Sources and storage

extension Setting {
    /// Adds flags: a single character follows one dash, a longer name two.
    public func flag(_ names: String...) -> Setting {
        declaring {
            for name in names {
                if name.isShortFlag { $0.short = name } else { $0.flags.append(name) }
            }
        }
    }

    /// Adds a flag without a value, which sets this one: `.flag("9", sets: 9)` is `-9`.
    public func flag(_ name: String, sets value: Value) -> Setting {
        guard let value = try? PropertyList(encoding: value) else { return self }
        return declaring {
            $0.flagValues.append(.init(flag: (name.isShortFlag ? "-" : "--") + name, value: $0.rule.adapted(value)))
        }
    }

    /// Sets the value of the flag without one. Another value must then follow an equals sign: `--color=never`.
    public func implied(_ value: Value) -> Setting {
        guard let value = try? PropertyList(encoding: value) else { return self }
        return declaring { ($0.isValueOptional, $0.implied) = (true, $0.rule.adapted(value)) }
    }

    /// Takes the word after the flag as its value even if it begins with a dash.
    public func allowsDash() -> Setting { declaring { $0.allowsDash = true } }
    /// Sets the text between the elements of an array that is given as one word.
    public func separator(_ separator: String) -> Setting { declaring { $0.rule.separator = separator } }
    /// Adds a `--no-…` form of the flags.
    public func negatable() -> Setting { declaring { $0.isNegatable = true } }
    /// Allows the flag to be repeated: each use appends an element to an array, or adds one to an integer.
    public func repeats() -> Setting { declaring { $0.repeats = true } }
    /// Takes the value from an operand. An array takes all operands that no other position takes.
    public func positional(_ position: Int = 1) -> Setting { declaring { $0.positional = position } }
    /// Takes all arguments after the other operands, including flags.
    ///
    /// - Parameter passesUnknown: Whether undeclared flags are taken too, wherever they are. Declared flags are then
    ///   recognized among the arguments.
    public func rest(passesUnknown: Bool = false) -> Setting {
        declaring { ($0.takesRest, $0.passesUnknown) = (true, passesUnknown) }
    }

    /// Adds environment variables that set the value.
    public func environment(_ variables: String...) -> Setting { declaring { $0.environment += variables } }
    /// Marks the value as a secret, which is kept out of listings, messages, mirrors and command lines.
    public func sensitive() -> Setting { declaring { $0.isSensitive = true } }
    /// Sets whether mirrors copy the value to other hosts.
    public func mirrored(_ isMirrored: Bool) -> Setting { declaring { $0.isMirrored = isMirrored } }
    /// Merges concurrent changes to different entries of a dictionary.
    public func merges() -> Setting { declaring { $0.merges = true } }
    /// Excludes the value from storage.
    public func transient() -> Setting { declaring { $0.isTransient = true } }
    /// Stores the value for this machine only.
    public func byHost() -> Setting { declaring { $0.isByHost = true } }
    /// Adds former keys of the setting.
    public func renamed(from keys: String...) -> Setting { declaring { $0.renamedFrom += keys } }
}
