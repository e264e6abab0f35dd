/// A change of entries that the values before and after it do not determine.
///
/// Two values do not show whether a key was renamed, or removed while another was added, nor which of several equal
/// elements was removed. A verb that does this to a text states it, so that comments stay with their entries.
package enum EntryStep: Hashable, Sendable {
    /// The entry was removed.
    case removal(EntryPath)
    /// The entries were removed. The index of an element is the one before that.
    case removals([EntryPath])
    /// The element was inserted, and is now at this path.
    case insertion(EntryPath)
    /// The entry has this path now. A value that was there before was replaced. The index of an element is the one
    /// before the move.
    case move(EntryPath, to: EntryPath)
    /// The element and the one after it have changed places.
    case exchange(EntryPath, EntryPath)
}

extension EntryStep {
    /// The container and the component of a removed or moved entry.
    var source: (container: ArraySlice<EntryPath.Component>, component: EntryPath.Component)? {
        switch self {
        case .removal(let path), .move(let path, to: _), .exchange(let path, _): Self.parts(path)
        case .insertion, .removals: nil
        }
    }

    /// The container and the component of an inserted or moved entry.
    var target: (container: ArraySlice<EntryPath.Component>, component: EntryPath.Component)? {
        switch self {
        case .insertion(let path), .move(_, to: let path), .exchange(_, let path): Self.parts(path)
        case .removal, .removals: nil
        }
    }

    private static func parts(
        _ path: EntryPath
    ) -> (container: ArraySlice<EntryPath.Component>, component: EntryPath.Component)? {
        path.components.last.map { (path.components.dropLast(), $0) }
    }

    /// The path of an entry whose comments go to another place.
    var moved: EntryPath? {
        switch self {
        case .move(let path, to: _), .exchange(let path, _): isNested ? nil : path
        case .removal, .removals, .insertion: nil
        }
    }

    /// The path to which an entry is moved.
    var movedTo: EntryPath? {
        if case .move(_, to: let path) = self { path } else { nil }
    }

    /// Whether one of the paths of a move leads into the other, so that the entry is not moved as it is.
    var isNested: Bool {
        guard case .move(let old, let new) = self else { return false }
        return old.components.starts(with: new.components) || new.components.starts(with: old.components)
    }
}
