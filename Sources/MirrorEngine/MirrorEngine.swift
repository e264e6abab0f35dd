// The protocol by which hosts share settings, as a state machine: events in, actions out. No file, no clock.
//
// An `Event` comes to the `Engine`, changes its `LocalState`, and leaves `Action`s for whoever has files and a clock.
//
// Kernel: stamps, version vectors, and atoms that merge. Border: what changed in a domain since the last look.
// Protocol: the engine. Format: the files of the directory that hosts share, byte by byte. Local, with Journal: what a
// host must not forget.
