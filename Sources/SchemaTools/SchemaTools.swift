// What the command makes of a schema, and does not belong into a program that only uses settings. Pure code.
//
// Scripts: declarations in the head of a script, its values, completions, and parsers that need no other program.
// Forms: dialogs. Showing: documentation and JSON Schema, in both directions. Bundles: the settings bundles of iOS.
