internal import PropertyLists

extension Rendering {
    /// What the options ask for; the preset where they say nothing.
    init(_ invocation: Invocation, preset: FormatName) {
        self.init(invocation, as: invocation.format ?? preset)
    }

    /// What the options ask for, in a format that stands elsewhere than behind `--format`.
    init(_ invocation: Invocation, as format: FormatName) {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.wrapsInJSON = invocation.has(.losslessJSON)
        options.coerces = invocation.has(.coerce)
        options.isLossy = !invocation.has(.strict)
        options.keepsKeyOrder = format == .json && !invocation.has(.sort)
        self.init(format, options: options)
    }

    /// Whether nothing may be lost.
    var isStrict: Bool { !options.isLossy }

    /// Whether dates in the value are written without their fractions of a second.
    func dropsFractions(of value: PropertyList) -> Bool {
        guard options.isLossy, let format = format.ofPropertyList, !format.keepsFractions else { return false }
        return value.hasFractionalDates
    }
}
