// Measures against what others made, in one run and by one rule.
//
// `formats`: readers and writers, here. Store: settings stores, driven by their commands. Scripts: arguments of shell
// scripts. Mirror: what a mirror costs, against what it may cost. Compare: a little of all but that, as a table and a
// picture. The contenders' drivers are in Tests/Peers.
