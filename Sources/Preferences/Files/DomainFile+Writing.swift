internal import Platform
package import PropertyLists

extension DomainFile {
    /// The bytes of a file that holds the values.
    package func serialized(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format
    ) throws(StoreFailure) -> [UInt8] {
        var options = PropertyList.WritingOptions.ofDomains
        options.wrapsInJSON = isOfDomain
        options.limits = limits
        options.writesJSON5 = NamedFormat(fileName: path.description) == .json5
        do throws(EncodingFailure) {
            return Array(try PropertyList.dictionary(values).serialized(as: format, options: options))
        } catch {
            throw StoreFailure(self, .unwritable(error))
        }
    }
}

extension DomainFile {
    /// The bytes of a file that holds the values. A file of JSON keeps the text of numbers beyond a property list's.
    ///
    /// - Parameter former: The bytes that the values come from: those of the file, or of a version.
    func serialized(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format, editing former: [UInt8]?
    ) throws(StoreFailure) -> [UInt8] {
        let written = try serialized(values, as: format)
        guard format == .json, let former, let (formerValues, formerFormat) = try? parse(former),
            formerFormat == .json
        else {
            return written
        }
        do throws(EncodingFailure) {
            return try PropertyList.dictionary(values).keepingNumbers(
                in: written, of: (former, .dictionary(formerValues)), optionsOfJSON)
        } catch {
            throw StoreFailure(self, .unwritable(error))
        }
    }

    /// Makes a domain binary if its format would lose a fraction of a second: the mirror would publish the loss as a
    /// change. Returns the former format; nil if the format stays.
    func keepFractions(in draft: inout DomainDraft) -> PropertyList.Format? {
        // As GNUstep, a domain has its fractions in a notation of our own.
        guard isOfDomain, draft.format == .xml || draft.format == .openstep,
            PropertyList.dictionary(draft.values).hasFractionalDates
        else { return nil }
        defer { draft.format = .binary }
        return draft.format
    }
}

extension PropertyList.WritingOptions {
    /// How domains are written: to be read by key, and without loss.
    package static let ofDomains: PropertyList.WritingOptions = {
        var options = PropertyList.WritingOptions()
        options.marksSortedRoot = true
        options.wrapsInJSON = true
        options.isPretty = true
        return options
    }()
}

extension PropertyList.ReadingOptions {
    /// The counterpart of how domains are written.
    package static let ofDomains = PropertyList.ReadingOptions(unwrapsJSON: true)
}

extension DomainFile {
    /// The options that read any JSON that this file may hold. JSON5 contains JSON.
    package var optionsOfJSON: PropertyList.ReadingOptions {
        PropertyList.ReadingOptions(unwrapsJSON: isOfDomain, allowsJSON5: !isOfDomain)
    }
}

extension PropertyList.Dictionary {
    /// Makes all dates those of whole seconds; whether that has changed any.
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
    /// Whether a domain may get a key of this name.
    package var isFitForWriting: Bool { !isEmpty && !utf8.contains(0) }
    /// Why not.
    var unfitness: String { isEmpty ? "a key cannot be empty" : "a key cannot have a NUL in it" }
}
