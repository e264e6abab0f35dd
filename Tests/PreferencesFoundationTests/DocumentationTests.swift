import Foundation
import PreferencesFoundation
import Testing

@Suite struct `The page on objects of Foundation` {
    @Test func `is correct`() {
        let defaults = Defaults("com.example.editor", in: .memory())
        defaults.set(NSNumber(value: 14), forKey: "fontSize")
        defaults.register(defaults: ["recent": NSArray(array: ["a", "b"])])
        #expect(defaults.integer(forKey: "fontSize") == 14 && defaults.stringArray(forKey: "recent") == ["a", "b"])
    }
}
