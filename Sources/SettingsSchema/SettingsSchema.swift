// Declarations of settings, and what a program does with them. Pure code: nothing here accesses the disk.
//
// Declaring: `Setting` and the schema builder, for programs in Swift. Reading: schemas from text, and their errors.
// Model: the declarations themselves. Values: their text, the checks of their rules, secrets, and values of earlier
// versions. Arguments: the command line. Help: its help texts.
