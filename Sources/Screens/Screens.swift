// Screens in a terminal, as state machines. Pure code: keys come in as bytes, and the cells to show go out.
//
// `KeyParser` turns bytes into keys. `Canvas` holds cells, and writes those that differ from the cells shown.
// `LineEditor` edits a line. `FormScreen` and `BrowseScreen` take events and return effects, and draw themselves.

/// A screen as a state machine: events in, effects out.
///
/// It performs no I/O: the caller reads keys, carries out effects, and shows the canvas.
package protocol Screen: Sendable {
    associatedtype Event: ScreenEvent
    associatedtype Effect: Sendable

    mutating func handle(_ event: Event) -> [Effect]

    /// Draws the screen on an empty canvas of its size.
    func draw(on canvas: inout Canvas)

    /// The milliseconds after which `elapse()` is called if nothing happens; nil for never.
    var pause: Int32? { get }

    mutating func elapse()
}

extension Screen {
    package var pause: Int32? { nil }
    package mutating func elapse() {}
}

package protocol ScreenEvent: Sendable {
    static func key(_ press: KeyPress) -> Self
    static func resized(columns: Int, rows: Int) -> Self
}
