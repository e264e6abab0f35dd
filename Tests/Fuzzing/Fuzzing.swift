// Searches for inputs that break a property, and replays those that were found.
//
// A `Target` is a format or a part that takes bytes from strangers; the files named Properties say what must hold of
// it. `Tests/run fuzz` builds it with libFuzzer; without that, the executable replays files.
