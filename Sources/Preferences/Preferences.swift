// Domains, their layers, and their files. `import Preferences` is all that a program writes.
//
// Domains: what a domain, a layer and a store are, and where their files lie.
// Files: reading one of them, whole or a key of it. Writing: changing one or several, so that nothing is lost.
// History: the versions that are kept of each. Library: what programs see.
@_exported public import PropertyLists
@_exported public import SettingsSchema

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
