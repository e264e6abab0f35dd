// The value of property lists, and the five formats that it is read from and written into. Pure: bytes in, bytes out.
//
// XML, Binary, OpenStep (GNUstep's dialect too) and JSON: a reader and a writer each, between bytes and
// `PropertyList`. Reading, Writing and Text: what the formats have in common. Codable: the one bridge to types of a
// program.
