// What may be said about settings, and all that follows from it. Pure: nothing is read from the disk.
//
// Declaring: `Setting` and the builder of schemas, for programs. Reading: the same from a text, for everybody else.
// Model: what both make. Checking, with Patterns: whether values are allowed. Migrating: values of earlier versions.
// Arguments: a command line. Help, Showing, Forms and Scripts: the faces for people, manuals, dialogues and shells.
