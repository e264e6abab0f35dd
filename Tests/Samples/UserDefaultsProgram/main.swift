import Foundation

func show(_ name: String, _ value: Any?) { print("\(name): \(value ?? "nothing")") }

let defaults = UserDefaults.standard
defaults.register(defaults: ["launches": 0, "theme": "light", "zoom": 1.5, "wraps": true, "columns": ["name", "size"]])
show("launches before this", defaults.integer(forKey: "launches"))
show("theme", defaults.string(forKey: "theme"))
show("zoom", defaults.double(forKey: "zoom"))
show("wraps", defaults.bool(forKey: "wraps"))
show("columns", defaults.stringArray(forKey: "columns"))

defaults.set(defaults.integer(forKey: "launches") + 1, forKey: "launches")
defaults.set("dark", forKey: "theme")
defaults.set(2.25, forKey: "zoom")
defaults.set(Float(0.5), forKey: "opacity")
defaults.set(false, forKey: "wraps")
defaults.set(["size", "date"], forKey: "columns")
defaults.set(["width": 640, "height": 480], forKey: "window")
defaults.set(Data([1, 2, 3]), forKey: "token")
defaults.set(Date(timeIntervalSinceReferenceDate: 86_400), forKey: "checked")
defaults.set(URL(fileURLWithPath: "/srv/a b.txt"), forKey: "file")
defaults.set("12 points", forKey: "size")

show("launches", defaults.object(forKey: "launches"))
show("theme as an integer", defaults.integer(forKey: "theme"))
show("zoom", [defaults.double(forKey: "zoom"), Double(defaults.integer(forKey: "zoom"))])
show("zoom as a text", defaults.string(forKey: "zoom"))
show("opacity", defaults.float(forKey: "opacity"))
show("wraps", [defaults.bool(forKey: "wraps"), defaults.bool(forKey: "launches")])
show("columns", defaults.array(forKey: "columns")?.count)
show("window", defaults.dictionary(forKey: "window")?["width"] as? Int)
show("token", defaults.data(forKey: "token").map { [UInt8]($0) })
show("checked", (defaults.object(forKey: "checked") as? Date)?.timeIntervalSinceReferenceDate)
show("file", defaults.url(forKey: "file")?.path)
show(
    "size",
    [defaults.integer(forKey: "size"), Int(defaults.float(forKey: "size")), Int(defaults.double(forKey: "size"))])
show("window as a text", defaults.string(forKey: "window"))
show("absent", [defaults.integer(forKey: "absent"), defaults.bool(forKey: "absent") ? 1 : 0])
show("margin of the command line", defaults.integer(forKey: "margin"))
show("arguments", defaults.volatileDomain(forName: UserDefaults.argumentDomain).keys.sorted())

defaults.removeObject(forKey: "theme")
show("theme when removed", defaults.string(forKey: "theme"))
defaults.set(nil as Any?, forKey: "zoom")
show("zoom when set to nothing", defaults.double(forKey: "zoom"))
let known = ["checked", "columns", "file", "launches", "opacity", "size", "theme", "token", "window", "wraps", "zoom"]
show("all", defaults.dictionaryRepresentation().keys.filter { known.contains($0) }.sorted())
show("forced", defaults.objectIsForced(forKey: "theme"))

defaults.setVolatileDomain(["draft": "text"], forName: "session")
show("session", defaults.volatileDomain(forName: "session")["draft"])
show("names of it", defaults.volatileDomainNames.filter { $0 == "session" })
defaults.removeVolatileDomain(forName: "session")
show("session when removed", defaults.volatileDomain(forName: "session").count)

if let shared = UserDefaults(suiteName: "org.example.shared") {
    shared.set("hello", forKey: "greeting")
    shared.set("not ours", forKey: "size")
    show("stored", shared.synchronize())
    show("greeting of the suite", shared.string(forKey: "greeting"))
}
show("greeting without the suite", defaults.string(forKey: "greeting"))
defaults.addSuite(named: "org.example.shared")
show("greeting with the suite", defaults.string(forKey: "greeting"))
show("size, which is ours first", defaults.string(forKey: "size"))
defaults.removeSuite(named: "org.example.shared")
show("greeting when removed", defaults.string(forKey: "greeting"))

show("domain", defaults.persistentDomain(forName: "org.example.shared")?.keys.sorted())
defaults.setPersistentDomain(["only": 1], forName: "org.example.shared")
show("domain when set", defaults.persistentDomain(forName: "org.example.shared")?["only"] as? Int)
defaults.removePersistentDomain(forName: "org.example.shared")
show("domain when removed", defaults.persistentDomain(forName: "org.example.shared")?.count ?? 0)
show("stored", defaults.synchronize())
