// Property list values, with readers and writers for six formats. Pure code: bytes in, bytes out.
//
// XML, Binary, OpenStep (with GNUstep's dialect), JSON and TOML: a reader and a writer for each format. Text: code that
// the formats share. Codable: encoding and decoding of Swift types. SourceMap: the source range of each entry. Editing:
// edits that change only the bytes of the edited entries. Archives: the contents of NSKeyedArchiver files as plain
// values.
//
// The compiler is forced to inline the 29 functions for which `Benchmarks formats` requires it. Without them, reading
// takes up to 24 % longer.
