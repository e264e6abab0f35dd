// Checksums and text encodings: SHA-256 for comparing contents, CRC-32C for detecting damage, and hexadecimal digits.
