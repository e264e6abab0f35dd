// The protocol by which hosts share settings, as a state machine: events in, actions out. It accesses no file and no
// clock.
//
// An `Event` enters the `Engine`, changes its `LocalState`, and returns `Action`s for the caller, which has files and a
// clock.
//
// Kernel: stamps, version vectors, and writes that merge. FileSync: the changes in a preference file since it was last
// read. Protocol: the engine. Format: the files of the shared directory, byte by byte. Local and Journal: the state
// that a host must not lose, and its encoding.
