// Domains, their layers, and their files. `import Preferences` is all that a program writes.
//
// A program's `Defaults` look into `OpenDomain`s, layer by layer. What is set there, or by the command, becomes
// `DomainEdit`s; a `DomainWriter` makes a `FilePlan` of each and carries them out, and `History` keeps the versions.
//
// Domains: what a domain, a layer and a store are, and where their files lie.
// Files: reading one of them, whole or a key of it. Writing: changing one or several, so that nothing is lost.
// History: the versions that are kept of each. Schemas: which declarations are in force, and what they ask of writers.
// Arguments and Coercions: a command line's values, and those of one type read as another. Library: what programs see.
@_exported public import PropertyLists
@_exported public import SettingsSchema

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
