// The operating system: protocols with an implementation for Linux here and a simulated one in `SimulatedPlatform`.
//
// Files: paths, and `FileSystem` with its extensions. Watching: `FolderWatcher`. Time: `Clock`. Environment:
// variables, the host's identity, the terminal. System: the implementations for Linux.
