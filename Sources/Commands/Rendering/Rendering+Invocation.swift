internal import PropertyLists

extension Rendering {
    /// What the options ask for; the preset where they say nothing.
    init(_ invocation: Invocation, preset: FormatName) {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.wrapsInJSON = invocation.has(.losslessJSON)
        options.coerces = invocation.has(.coerce)
        options.isLossy = invocation.has(.lossy)
        options.keepsKeyOrder = invocation.format == .json && !invocation.has(.sort)
        self.init(invocation.format ?? preset, options: options)
    }
}
