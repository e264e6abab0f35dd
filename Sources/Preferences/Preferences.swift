internal import Platform
// Domains, their layers, and their files. `import Preferences` is all that a program writes.
@_exported public import PropertyLists
@_exported public import SettingsSchema

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
