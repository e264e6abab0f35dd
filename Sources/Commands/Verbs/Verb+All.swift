extension Verb {
    /// The verbs by what they are for, in the order of help.
    package static let tasks: [(title: String, verbs: [Verb])] = [
        ("Read", [read, readType, domains, find, query, explain]),
        ("Write", [write, delete, deleteAll, rename, copy, edit, form, browse]),
        ("Files", [importing, export, convert, lint, diff, apply, adopt]),
        ("Undo changes", [history, undo, restore]),
        ("Scripts", [args, watch, completions]),
        ("Schemas", [schema]),
        ("Several hosts", [mirror]),
        ("Help", [help, doctor]),
    ]

    package static let all: [Verb] = tasks.flatMap(\.verbs) + [complete]

    /// Returns a verb that scripts call often, without creating the table of all verbs, which would take most of the
    /// time.
    package static func fastPath(_ name: String) -> Verb? {
        switch name {
        case "read": .read
        case "write": .write
        case "delete": .delete
        case "args": .args
        default: nil
        }
    }
}

extension Verb {
    /// A command for each verb and sub-verb, for help.
    package static let examples = [
        "prefs write com.example.app size --int 14",
        "prefs read com.example.app size",
        "prefs read-type com.example.app size",
        "prefs domains",
        "prefs find size",
        "prefs query ./package.json :contributors 'name beginswith \"A\"'",
        "prefs explain com.example.app size",
        "prefs rename com.example.app size fontSize",
        "prefs copy com.example.app fontSize --to org.example.editor size",
        "prefs delete com.example.app fontSize",
        "prefs delete-all com.example.app",
        "prefs edit com.example.app",
        "prefs form com.example.app",
        "prefs browse com.example.app",
        "prefs import com.example.app settings.json",
        "prefs export --format json com.example.app settings.json",
        "prefs convert com.example.app json",
        "prefs lint settings.plist",
        "prefs diff com.example.app org.example.editor",
        "prefs apply --dry-run settings/",
        "prefs adopt ~/.config/Code/User/settings.json --as code",
        "prefs history --since 2h",
        "prefs undo com.example.app",
        "prefs restore com.example.app 3",
        "prefs args ./backup.sh -- --keep 7",
        "prefs watch com.example.app theme --run ./reload.sh",
        "prefs completions bash",
        "prefs schema check app.schema.plist",
        "prefs schema show com.example.app",
        "prefs schema list",
        "prefs schema install app.schema.plist",
        "prefs schema uninstall com.example.app",
        "prefs schema migrate com.example.app",
        "prefs schema import Settings.bundle",
        "prefs schema export app.schema.plist --settings-bundle Settings.bundle",
        "prefs mirror init ~/Sync/prefs",
        "prefs mirror join ~/Sync/prefs",
        "prefs mirror add 'com.example.*'",
        "prefs mirror remove 'com.example.*'",
        "prefs mirror list",
        "prefs mirror sync",
        "prefs mirror watch",
        "prefs mirror service install",
        "prefs mirror status",
        "prefs mirror log",
        "prefs mirror conflicts accept com.example.app",
        "prefs mirror release --take-file com.example.app",
        "prefs mirror pause",
        "prefs mirror resume",
        "prefs mirror leave",
        "prefs mirror detach",
        "prefs mirror retire laptop",
        "prefs mirror purge laptop",
        "prefs mirror admit SHA256:aatPEQiO0fMTc3iCiXWWOMMN4BfxB63TkbGiVz9Ramw",
        "prefs mirror expel SHA256:B6icvOo3HzXgbK5X7yhMAyH1s9tTU4Ko4b3IFGrh1U4",
        "prefs mirror fsck",
        "prefs mirror rebuild",
        "prefs mirror compact",
        "prefs mirror dump 000000000041.vq5m70r3q9.base",
        "prefs help write",
        "prefs doctor",
    ]
}
