// MARK: The whole program

extension Schema {
    /// Sets the version of the program that `--version` prints.
    ///
    /// - Parameter flag: The letter of another flag for it.
    public func programVersion(_ version: String, flag: String? = nil) -> Schema {
        changed { ($0.programVersion, $0.versionShort) = (version, flag) }
    }

    /// Sets the allowed number of operands, such as `0...0` or `1...`.
    public func operands(_ count: some SettingBounds<Int>) -> Schema { changed { $0.operands = count.ofOperands } }
    /// Refuses undeclared operands, and repeated flags of arrays that do not repeat.
    public func strict() -> Schema { changed { $0.isStrict = true } }
    /// Refuses abbreviations of long flags.
    public func exact() -> Schema { changed { $0.isExact = true } }
    /// Sets whether flags are recognized after operands.
    public func interleaved(_ isInterleaved: Bool) -> Schema { changed { $0.isInterleaved = isInterleaved } }
    /// Refuses to store keys that are not declared.
    public func closed() -> Schema { changed { $0.isClosed = true } }
    /// Sets the command that is used if the first operand is not one.
    public func defaultCommand(_ name: String) -> Schema { changed { $0.defaultCommand = name } }
    /// Adds lines of examples to the help.
    public func examples(_ lines: String...) -> Schema { changed { $0.examples += lines } }
    /// Sets the text at the end of the help.
    public func epilogue(_ text: String) -> Schema { changed { $0.epilogue = text } }

    private func changed(_ change: (inout Schema) -> Void) -> Schema {
        var result = self
        change(&result)
        return result
    }
}

// MARK: Commands

extension Schema.Command {
    /// Adds other names of the command.
    public func aliases(_ names: String...) -> Schema.Command { changed { $0.aliases += names } }
    /// Sets the heading under which the help lists the command.
    public func group(_ group: String) -> Schema.Command { changed { $0.group = group } }
    /// Excludes the command from help and completions.
    public func hidden() -> Schema.Command { changed { $0.isHidden = true } }
    /// Sets the allowed number of operands, such as `0...0` or `1...`.
    public func operands(_ count: some SettingBounds<Int>) -> Schema.Command {
        changed { $0.operands = count.ofOperands }
    }

    /// Sets the command within this one that is used if the next operand is not one.
    public func defaultCommand(_ name: String) -> Schema.Command { changed { $0.defaultCommand = name } }
    /// Adds lines of examples to the help of the command.
    public func examples(_ lines: String...) -> Schema.Command { changed { $0.examples += lines } }
    /// Sets the text at the end of the help of the command.
    public func epilogue(_ text: String) -> Schema.Command { changed { $0.epilogue = text } }

    private func changed(_ change: (inout Schema.Command) -> Void) -> Schema.Command {
        var result = self
        change(&result)
        return result
    }
}

extension SettingBounds<Int> {
    /// The range without negative numbers.
    fileprivate var ofOperands: ClosedRange<Int> {
        let least = Swift.max(0, lowerEnd ?? 0)
        return least...Swift.max(least, upperEnd ?? .max)
    }
}
