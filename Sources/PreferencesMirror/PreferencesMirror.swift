// The loop that runs the mirror's engine against a file system and feeds it what happens there.
//
// A `MirrorService` waits and a `MirrorSession` exchanges: it tells the engine what `SharedDirectory` and
// `PreferenceFiles` show, and does there what the engine asks for.
//
// Mirrors: which there are on this host, and what a person has said of them. Directory: the folder that hosts share.
// State: what must not be forgotten. Files: the preference files, read and written through `Preferences`.
// Running: the engine's events and actions, once or for good. Library: what programs see.
