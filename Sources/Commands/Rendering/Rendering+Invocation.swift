internal import PropertyLists

extension Rendering {
    /// Creates the rendering that `--format` requests, or the one of this command. JSON wraps what it has no type for,
    /// and the keys of a domain are sorted; those of a file that is named by its path, and of an opened archive, keep
    /// their order.
    init(_ invocation: Invocation, preset: FormatName? = nil) {
        let format = invocation.format ?? preset ?? invocation.dialect.valueFormat
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.isLossy = true
        options.wrapsInJSON = format != .jsonPlain
        options.coerces = format == .jsonPlain
        let isOfFile = invocation[operand: Operand.domain.name].map(DomainArgument.isPath) ?? false
        options.keepsKeyOrder = isOfFile || invocation.unarchives
        self.init(format, options: options)
    }

    /// Creates the rendering for a conversion, as its options request.
    init(_ invocation: Invocation, convertingTo format: FormatName) {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.wrapsInJSON = invocation.has(.losslessJSON)
        options.coerces = invocation.has(.coerce)
        options.isLossy = !invocation.has(.strict)
        options.keepsKeyOrder = format == .json && !invocation.has(.sort)
        self.init(format, options: options)
        dropsNulls = invocation.has(.lossy)
    }

    /// Whether loss of data is an error.
    var isStrict: Bool { !options.isLossy }

    /// Returns whether the format drops fractions of a second in the value's dates.
    func dropsFractions(of value: PropertyList) -> Bool {
        guard options.isLossy, let format = format?.ofPropertyList, !format.keepsFractions else { return false }
        return value.hasFractionalDates
    }
}
