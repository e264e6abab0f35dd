internal import PropertyLists

extension Rendering {
    /// Creates the rendering that the options request, with a default format.
    init(_ invocation: Invocation, preset: FormatName) {
        self.init(invocation, as: invocation.format ?? preset)
    }

    /// Creates the rendering that the options request, in a given format.
    init(_ invocation: Invocation, as format: FormatName) {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.wrapsInJSON = invocation.has(.losslessJSON)
        options.coerces = invocation.has(.coerce)
        options.isLossy = !invocation.has(.strict)
        options.keepsKeyOrder = format == .json && !invocation.has(.sort)
        self.init(format, options: options)
    }

    /// Whether loss of data is an error.
    var isStrict: Bool { !options.isLossy }

    /// Returns whether the format drops fractions of a second in the value's dates.
    func dropsFractions(of value: PropertyList) -> Bool {
        guard options.isLossy, let format = format.ofPropertyList, !format.keepsFractions else { return false }
        return value.hasFractionalDates
    }
}
