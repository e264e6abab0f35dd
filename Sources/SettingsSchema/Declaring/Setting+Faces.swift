// MARK: What people see

extension Setting {
    /// Says in a few words what it is, for help and forms.
    public func title(_ title: String) -> Setting { declaring { $0.title = title } }
    /// Says more about it, in sentences.
    public func summary(_ summary: String) -> Setting { declaring { $0.summary = summary } }
    /// Names the heading below which help and forms show it.
    public func group(_ group: String) -> Setting { declaring { $0.group = group } }
    /// Names its value in help, as N in `--keep N`.
    public func placeholder(_ placeholder: String) -> Setting { declaring { $0.placeholder = placeholder } }
    /// Says what its number counts.
    public func unit(_ unit: String) -> Setting { declaring { $0.unit = unit } }
    /// Says that the setting is not to be used any more, and why.
    public func deprecated(_ reason: String = "") -> Setting { declaring { $0.deprecated = reason } }
}

// MARK: Where it comes from, and where it goes

extension Setting {
    /// The flags of a command line: a single character stands behind one dash, a longer name behind two.
    public func flag(_ names: String...) -> Setting {
        declaring {
            for name in names {
                if name.isShortFlag { $0.short = name } else { $0.flags.append(name) }
            }
        }
    }

    /// Adds `--no-…` to the flags.
    public func negatable() -> Setting { declaring { $0.isNegatable = true } }
    /// Lets the flag be given again: an array gets an element each time, an integer counts.
    public func repeats() -> Setting { declaring { $0.repeats = true } }
    /// Takes the value from an operand; an array takes as many as the other positions leave.
    public func positional(_ position: Int = 1) -> Setting { declaring { $0.positional = position } }
    /// Takes all that follows the other operands, flags too.
    public func rest() -> Setting { declaring { $0.takesRest = true } }
    /// Names variables of the environment that set it.
    public func environment(_ variables: String...) -> Setting { declaring { $0.environment += variables } }
    /// Keeps the value out of listings, messages, mirrors and command lines.
    public func sensitive() -> Setting { declaring { $0.isSensitive = true } }
    /// Says whether a mirror may carry it to other hosts.
    public func mirrored(_ isMirrored: Bool) -> Setting { declaring { $0.isMirrored = isMirrored } }
    /// Merges changes of single entries, where a dictionary is changed at several places.
    public func merges() -> Setting { declaring { $0.merges = true } }
    /// Never stores the value.
    public func transient() -> Setting { declaring { $0.isTransient = true } }
    /// Stores the value for this machine alone.
    public func byHost() -> Setting { declaring { $0.isByHost = true } }
    /// Names keys under which it was kept before.
    public func renamed(from keys: String...) -> Setting { declaring { $0.renamedFrom += keys } }
}
