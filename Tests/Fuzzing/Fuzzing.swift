// Searches for inputs that break a property, and replays those that were found.
//
// A `Target` is a format or a part of the program that reads untrusted bytes. The files named Properties define its
// properties. `Tests/run fuzz` builds the executable with libFuzzer. Otherwise, the executable replays files.
