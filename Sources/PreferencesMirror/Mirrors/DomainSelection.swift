internal import MirrorEngine
package import Preferences

/// Which domains take part in a mirror: patterns of names, of which the last that fits a name decides.
package struct DomainSelection: Hashable, Sendable {
    /// As they were given; one that begins with an exclamation mark takes out.
    package private(set) var patterns: [String]

    package init(_ patterns: [String] = []) { self.patterns = patterns }

    /// Whether a domain takes part. The global domain does only where it is named, and the store's own never.
    package func includes(_ domain: DomainName) -> Bool {
        guard domain != StorePolicy.domain else { return false }
        var isIncluded = false
        for pattern in patterns {
            let isExclusion = pattern.hasPrefix("!")
            let glob = isExclusion ? String(pattern.dropFirst()) : pattern
            let fits = domain.isGlobal ? glob == DomainName.global.text : Glob(glob).matches(domain.text)
            if fits { isIncluded = !isExclusion }
        }
        return isIncluded
    }

    package mutating func add(_ pattern: String) {
        patterns.removeAll { $0 == pattern || $0 == "!" + pattern }
        patterns.append(pattern)
    }

    /// Takes out what the pattern fits; where it was added by the same words, it is as if it never had been.
    package mutating func remove(_ pattern: String) {
        let count = patterns.count
        patterns.removeAll { $0 == pattern || $0 == "!" + pattern }
        if patterns.count == count || patterns.contains(where: { !$0.hasPrefix("!") }) {
            patterns.append("!" + pattern)
        }
    }
}
