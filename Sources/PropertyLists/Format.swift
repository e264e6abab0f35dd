extension PropertyList {
    /// The ways to write a property list down.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        case xml, binary
        /// The text of NeXTSTEP: strings, data, arrays and dictionaries. Also what `.strings` files are in.
        case openstep
        /// OpenStep with GNUstep's notation for the types that it lacks.
        case gnustep
        case json
    }

    /// What a reader accepts beyond, or short of, the letter of a format.
    public struct ReadingOptions: Hashable, Sendable {
        /// Leaves out a JSON `null` instead of refusing it.
        public var omitsNulls = false
        /// Reads `{"$date": …}` and its like in JSON as the values that `WritingOptions.wrapsInJSON` wrote so.
        public var unwrapsJSON = false
        /// Refuses a duplicate key in a dictionary; otherwise the last value is used.
        public var refusesDuplicateKeys = false
        /// Accepts in JSON what JSON5 adds, such as comments, trailing commas and keys without quotes.
        public var allowsJSON5 = false
        /// What an integer beyond 64 bits in JSON is read as.
        package var inexactIntegers = InexactIntegers.rounded
        /// Reads a number, `true`, `false` or a string in quotes as JSON where no format is named.
        ///
        /// Apple's tools read all of these as OpenStep strings.
        public var readsScalarsAsJSON = true

        /// What an integer beyond 64 bits in JSON is read as: a real, nothing, or a string with its digits.
        package enum InexactIntegers: Sendable {
            case rounded, refused, text
        }

        /// The options with the defaults for everything that is not given.
        public init(
            omitsNulls: Bool = false, unwrapsJSON: Bool = false, refusesDuplicateKeys: Bool = false,
            allowsJSON5: Bool = false, readsScalarsAsJSON: Bool = true
        ) {
            self.omitsNulls = omitsNulls
            self.unwrapsJSON = unwrapsJSON
            self.refusesDuplicateKeys = refusesDuplicateKeys
            self.allowsJSON5 = allowsJSON5
            self.readsScalarsAsJSON = readsScalarsAsJSON
        }
    }

    /// How a writer sets out what it writes, and what it does with a value that the format lacks.
    public struct WritingOptions: Hashable, Sendable {
        /// Keeps the order of the keys. Otherwise they are sorted, so that equal values give equal bytes.
        public var keepsKeyOrder = false
        /// Sets JSON out over lines with two spaces a level.
        public var isPretty = false
        /// Writes a value of a type that the format lacks as the text or number nearest to it.
        public var coerces = false
        /// Lets go of what the format cannot hold: in XML, the fraction of a second.
        public var isLossy = false
        /// Wraps what JSON lacks: `{"$date": …}`, `{"$data": …}`, `{"$uid": …}`, `{"$real": …}`.
        public var wrapsInJSON = false
        /// Writes a real in JSON that is not finite as JSON5 does: `Infinity`, `-Infinity` or `NaN`.
        package var writesJSON5 = false
        /// Writes OpenStep text in ASCII, other characters as `\U` and four digits.
        public var escapesNonASCII = false
        /// Notes in a binary file that the root's keys are sorted and unique, for readers that search by halving.
        /// Nothing is noted where the order of keys is kept.
        public var marksSortedRoot = false
        /// What a writer refuses to go beyond: the limits of a reader, so that what is written can be read.
        public var limits = Limits.default

        /// Writes as the defaults of the options say.
        public init() {}

        /// What is used where nothing else is asked for.
        public static let `default` = WritingOptions()
    }
}
