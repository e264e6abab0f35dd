// Predicates over values, and queries for the records of a value that satisfy one. Pure code, without access to files.
//
// Predicates: the language of NSPredicate, compiled once and evaluated in memory. Records: selecting, sorting and
// summarizing the records of a value. Patterns: regular expressions in linear time, which MATCHES and schemas share.
