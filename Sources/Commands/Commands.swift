// The command: from arguments to an exit status.
//
// `Parser` turns the arguments into an `Invocation` of a `Verb`. The verb runs, and reads and changes settings through
// a `StoreAccess`.
//
// Verbs: a file for each verb or a few related ones; `Verb+All` lists them. Apple: `plutil` and `PlistBuddy`, whose
// names the executable can have. Grammar: parsing of arguments, and help. Addressing: the domains, keys and layers that
// arguments name. Values and Rendering: parsing and printing of values. Running: the command's access to the system,
// and its exit. Differences, Applying, Searching, Watching, Editing, Doctor, Forms, Schemas, Scripts, Querying,
// Mirroring: the implementation of the verbs with these names. Screens: the screens of `form` and `browse` in a
// terminal. Shell: completions.
