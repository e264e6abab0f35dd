// A simulated `Platform`: a machine in memory that is determined by a seed and into which tests inject faults.
//
// A `SimulatedMachine` has a disk, of which each process has its own view, a clock, a watcher and a terminal. A
// `FaultPlan` selects the operation that fails or ends the process. A crash loses data that was not synchronized, as on
// a real disk.
