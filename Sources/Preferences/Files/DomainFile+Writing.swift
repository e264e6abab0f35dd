internal import Platform
package import PropertyLists

extension DomainFile {
    /// Returns the bytes of a file with these values.
    package func serialized(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format
    ) throws(StoreFailure) -> [UInt8] {
        try checkNulls(values, format)
        return try reporting { () throws(EncodingFailure) in
            Array(try PropertyList.dictionary(values).serialized(as: format, options: writingOptions))
        }
    }

    /// Throws if a domain would get a null, which settings cannot be, even if the format has it.
    private func checkNulls(
        _ values: PropertyList.Dictionary, _ format: PropertyList.Format
    ) throws(StoreFailure) {
        guard isOfDomain, let path = PropertyList.dictionary(values).pathToNull else { return }
        throw StoreFailure(
            self, .unwritable(EncodingFailure(.kindNotSupported(.null), path: path, format: format)))
    }

    private var writingOptions: PropertyList.WritingOptions {
        var options = PropertyList.WritingOptions.ofDomains
        options.wrapsInJSON = isOfDomain
        options.limits = limits
        options.writesJSON5 = NamedFormat(fileName: path.description) == .json5
        return options
    }
}

extension DomainFile {
    /// Returns the bytes of a file with these values. Of a text, only what differs from its values is changed.
    ///
    /// - Parameters:
    ///   - former: The bytes of the file or version from which the values come.
    ///   - isAnew: Whether to write all of the text anew. JSON still keeps the text of numbers that a property list
    ///     cannot hold.
    func serialized(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format, editing former: [UInt8]?, isAnew: Bool
    ) throws(StoreFailure) -> [UInt8] {
        guard let former, let (formerValues, formerFormat) = try? parse(former), formerFormat == format else {
            return try serialized(values, as: format)
        }
        try checkNulls(values, format)
        let value = PropertyList.dictionary(values)
        if format.isEditedInPlace, !isAnew,
            let source = try? SourceText(former, as: format, limits: limits, options: optionsOfText)
        {
            return try reporting { () throws(EncodingFailure) in
                try source.rewritten(to: value, options: writingOptions)
            }
        }
        let written = try serialized(values, as: format)
        guard format == .json else { return written }
        return try reporting { () throws(EncodingFailure) in
            try value.keepingNumbers(in: written, of: (former, .dictionary(formerValues)), optionsOfJSON)
        }
    }

    /// Runs `body` and reports its failure as one of this file.
    private func reporting(_ body: () throws(EncodingFailure) -> [UInt8]) throws(StoreFailure) -> [UInt8] {
        do throws(EncodingFailure) {
            return try body()
        } catch {
            throw StoreFailure(self, .unwritable(error))
        }
    }

    /// Makes a domain binary if its format would lose fractions of a second, because the mirror would publish the loss
    /// as a change. Returns the former format, or nil if it is unchanged.
    func keepFractions(in draft: inout DomainDraft) -> PropertyList.Format? {
        // In GNUstep format, fractions have a notation of our own.
        guard isOfDomain, draft.format == .xml || draft.format == .openstep,
            PropertyList.dictionary(draft.values).hasFractionalDates
        else { return nil }
        defer { draft.format = .binary }
        return draft.format
    }
}

extension PropertyList.WritingOptions {
    /// The options for writing domains: lookup by key, and no loss of information.
    package static let ofDomains: PropertyList.WritingOptions = {
        var options = PropertyList.WritingOptions()
        options.marksSortedRoot = true
        options.wrapsInJSON = true
        options.isPretty = true
        return options
    }()
}

extension PropertyList.ReadingOptions {
    /// The counterpart of the options for writing domains.
    package static let ofDomains = PropertyList.ReadingOptions(nulls: .refused, unwrapsJSON: true)
}

extension DomainFile {
    /// The options that read any JSON that this file may hold. JSON5 contains JSON.
    package var optionsOfJSON: PropertyList.ReadingOptions {
        PropertyList.ReadingOptions(
            nulls: isOfDomain ? .refused : .kept, unwrapsJSON: isOfDomain, allowsJSON5: !isOfDomain)
    }
}

extension PropertyList.Dictionary {
    /// Rounds all dates to whole seconds. Returns whether any was changed.
    package mutating func dropFractions() -> Bool {
        var isChanged = false
        for entry in self {
            let value = entry.value.droppingFractions
            guard value != entry.value else { continue }
            self[entry.key] = value
            isChanged = true
        }
        return isChanged
    }
}

extension PropertyList {
    fileprivate var droppingFractions: PropertyList {
        switch self {
        case .date(let date): .date(date.wholeSecond)
        case .array(let elements): .array(elements.map(\.droppingFractions))
        case .dictionary(let entries): .dictionary(Dictionary(entries.map { ($0.key, $0.value.droppingFractions) }))
        default: self
        }
    }
}

extension String {
    /// Whether this is a valid key for a domain.
    package var isFitForWriting: Bool { !isEmpty && !utf8.contains(0) }
    /// The reason the key is invalid.
    var unfitness: String { isEmpty ? "a key cannot be empty" : "a key cannot contain a NUL character" }
}

extension PropertyList {
    /// Returns the reason the value cannot be that of a setting, or nil.
    func unfitness(under key: String) -> String? {
        pathToNull.map { "\(EntryPath([.init(key)] + $0.components)): a setting cannot be null" }
    }
}
