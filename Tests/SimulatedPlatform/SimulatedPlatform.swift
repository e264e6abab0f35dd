// The twin of `Platform`: a machine in memory that follows from a seed, and on which anything can go wrong when asked.
//
// A `SimulatedMachine` has a disk, of which processes have their own view each, a clock, a watcher and a terminal. A
// `FaultPlan` says which operation fails or is the last one. What was not synced is lost in a crash, as on a real
// disk.
