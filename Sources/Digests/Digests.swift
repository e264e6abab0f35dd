// What tells bytes apart: SHA-256, by which equal contents are known, and CRC-32C, which finds damage; and the digits
// in which hashes, numbers and data are written.
