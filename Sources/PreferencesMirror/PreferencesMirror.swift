// The loop that runs the mirror's engine against a file system.
//
// A `MirrorService` waits for changes, and a `MirrorSession` exchanges: it sends the engine what `SharedDirectory` and
// `PreferenceFiles` contain, and carries out the actions that the engine returns.
//
// Mirrors: the mirrors of this host, and their configurations. Directory: the shared directory. Signing: the signatures
// of its files. State: the durable local state. Files: the preference files, read and written through `Preferences`.
// Running: the exchange, run once or continuously. Library: the public API.
