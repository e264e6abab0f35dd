internal import MirrorEngine
package import Preferences

/// The domains that are mirrored, as patterns of names. The last matching pattern decides.
package struct DomainSelection: Hashable, Sendable {
    /// The patterns as they were given. A leading exclamation mark excludes.
    package private(set) var patterns: [String]

    package init(_ patterns: [String] = []) { self.patterns = patterns }

    /// Whether a domain is mirrored. The global domain must be named explicitly, and the store's own domain never is.
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

    /// Excludes the domains that a pattern matches. If the same pattern was added before, it is removed instead.
    package mutating func remove(_ pattern: String) {
        let count = patterns.count
        patterns.removeAll { $0 == pattern || $0 == "!" + pattern }
        if patterns.count == count || patterns.contains(where: { !$0.hasPrefix("!") }) {
            patterns.append("!" + pattern)
        }
    }
}
