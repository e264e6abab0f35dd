// Screens in a terminal, as state machines. Pure code: keys come in as bytes, and the cells to show go out.
//
// `KeyParser` turns bytes into keys. `Canvas` holds cells, and writes those that differ from the cells shown.
// `LineEditor` edits a line. `FormScreen` takes events and returns effects, and draws itself.
