// The value of property lists, and the five formats that it is read from and written to. Pure: bytes in, bytes out.
//
// XML, Binary, OpenStep (with GNUstep's dialect) and JSON: a reader and a writer each, between bytes and
// `PropertyList`. Text: what the formats share. Codable: the bridge to types of a program. SourceMap: where each entry
// of a text was read. Editing: changes of a text that leave all but the edited entries as they are. Archives: what
// NSKeyedArchiver wrote, as values.
