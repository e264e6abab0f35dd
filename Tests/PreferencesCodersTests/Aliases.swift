import PreferencesCoders

// With `import Foundation` in the same file, the names would be ambiguous.
typealias JSONDecoder = PreferencesCoders.JSONDecoder
typealias PropertyListDecoder = PreferencesCoders.PropertyListDecoder
