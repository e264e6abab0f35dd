import Preferences
import PropertyLists

let width: EntryPath = ["window", "width"]
let last: EntryPath = ["recent", -1]

var settings = PropertyList.dictionary([:])
try settings.set(.integer(640), at: width)
try settings.set(.array([.string("a.txt"), .string("b.txt")]), at: ["recent"])
print("\(width):", settings[width] == .integer(640))
print("\(last):", settings[last] == .string("b.txt"))
