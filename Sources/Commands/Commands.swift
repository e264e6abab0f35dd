// The command: from words to an exit status.
//
// Words become an `Invocation` (`Parser`, by the `Verb` that they name), its verb runs, and what it reads and changes
// goes through a `StoreAccess`.
//
// Verbs: a file each, and several for those of `mirror`. Grammar: how words are understood, and help. Addressing: the
// domain, key and layer that they mean. Values and Rendering: values from words, and back. Running: what a command sees
// of the machine, and how it ends. Differences, Applying, Searching, Watching, Editing, Doctor, Forms, Schemas,
// Scripts, Mirroring: what the verbs of those names need. Shell: completions.
