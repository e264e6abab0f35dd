// Domains, their layers, and their files. `import Preferences` includes the declarations of settings.
//
// The `Defaults` of a program search `OpenDomain`s, layer by layer. Changes by a program or by the command become
// `DomainEdit`s; a `DomainWriter` makes a `FileCommit` of each and carries them out, and `History` keeps the versions.
//
// Domains: names, stores, and the places of their files. Lookup: the layers, and the value that is in force.
// Files: reading a file, completely or for a single key. Writing: changing one or several files atomically.
// History: the versions that are kept of each file. Schemas: the declarations in force, and the rules that they impose
// on writers. Library: the public API, with the conversions of values that it has in common with UserDefaults.
@_exported public import SettingsSchema

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
