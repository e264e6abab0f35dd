import Foundation
import Preferences

/// The settings of a client, as the library that it comes from declares them.
struct ClientKeys: SettingKeys {
    let timeout = Setting("timeout", default: 30).range(1...600).title("Seconds until a request fails")
}

struct ServerKeys: SettingKeys {
    let config = Setting<String?>("config").configuration().flag("config", "c").title("The file to read")
    let greeting = Setting("greeting", default: "hello").flag("greeting").title("What is served")
    let workers = Setting("workers", default: 4).range(1...64).flag("workers").title("Requests at the same time")
}

// A daemon. It serves until it is stopped, and follows the changes of its configuration file and of its settings.
let schema = Schema("com.example.server", title: "Serves greetings") {
    ServerKeys.self
    Schema.scope("client", title: "Client") { ClientKeys.self }
}
let settings = Settings<ServerKeys>(try schema.parseOrExit())
let client = settings.scoped("client", ClientKeys.self)

let changes = settings.defaults.values(of: settings.setting(\.greeting), settings.setting(\.workers))
for await (greeting, workers) in changes {
    let line = "serving \(greeting) with \(workers) workers and a timeout of \(client.timeout) s\n"
    FileHandle.standardOutput.write(Data(line.utf8))
}
