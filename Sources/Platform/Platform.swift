// The operating system, behind seams that `SimulatedPlatform` has a twin for.
//
// Files: paths, and `FileSystem` with what is built on it. Watching: `FolderWatcher`. Time: `Clock`. Surroundings:
// variables, the host's identity, the terminal. System: how Linux does all of that.
