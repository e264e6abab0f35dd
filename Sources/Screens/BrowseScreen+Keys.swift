internal import PropertyLists

// The commands of keys in the lists of domains and entries.
extension BrowseScreen {
    mutating func browse(_ press: KeyPress) -> [Effect] {
        switch press.key {
        case .wheel(let step): return move(3 * step)
        case .click(let column, let row): return click(column, row)
        default: break
        }
        let command = keymap.command(for: press)
        guard let command, command.meaning(in: .browser) != nil else {
            return refuse("The key \(press.name) has no meaning here; \(keymap.hint(.help, "shows the keys")).")
        }
        return isInDomains ? performInDomains(command) : perform(command)
    }

    /// Executes a command, except those that act on a domain.
    private mutating func perform(_ command: ScreenCommand) -> [Effect] {
        let page = max(1, layout.list.count - 1)
        switch command {
        case .up: return move(-1)
        case .down: return move(1)
        case .pageUp: return move(-page)
        case .pageDown: return move(page)
        case .halfPageUp: return move(-max(1, page / 2))
        case .halfPageDown: return move(max(1, page / 2))
        case .first: return move(-Int.max)
        case .last: return move(Int.max)
        case .nextPane, .previousPane: if !domains.isEmpty { isInDomains.toggle() }
        case .left: closeOrLeave()
        case .right: openOrEnter()
        case .add: add()
        case .undo: return [.undo]
        case .redo: return [.redo]
        case .search: return startSearch()
        case .modified: return startSearch() + type("@modified")
        case .nextMatch: return findNext(1)
        case .previousMatch: return findNext(-1)
        case .historyOfAll: return [.history(nil)]
        case .difference: return [.differences]
        case .watch:
            isWatching.toggle()
            message = Message(
                isWatching ? "Changes by other processes are highlighted." : "They are no longer highlighted.")
        case .save: return execute(.write)
        case .prompt: mode = .prompting(LineEditor())
        case .cancel:
            if search.isEmpty {
                message = Message("\(keymap.hint(.quit, "quits")); \(keymap.hint(.help, "shows the keys")).")
            }
            endSearch()
        case .help: mode = .reading(title: "Keys", Overlay.lines(help, columns: size.columns), scroll: 0)
        case .quit: return [.finish]
        case .interrupt where isLeaving: return [.finish]
        case .interrupt:
            isLeaving = true
            message = Message("\(keymap.hint(.interrupt, "again quits")).")
        default: return performOnRow(command)
        }
        return []
    }

    private mutating func performInDomains(_ command: ScreenCommand) -> [Effect] {
        switch command {
        case .left: return []
        case .right, .enter, .toggle: isInDomains = false
        case .add: mode = .editing(LineEditor(), .newDomain)
        case .history: return current == nil ? [] : [.history(EntryPath())]
        case .rename, .copy, .changeType, .delete, .reset, .editText, .moveUp, .moveDown, .details, .copyReading,
            .copyWriting:
            return refuse("This key acts on entries; \(keymap.hint(.right, "goes to them")).")
        default: return perform(command)
        }
        return []
    }

    /// Whether the Enter key on an entry decides a conflict. One inside a container is decided at the entry inside it,
    /// unless that was deleted.
    func hasDecision(at row: EntryTree.Row) -> Bool {
        guard let contents, contents.hasConflict(at: row.path) else { return false }
        let root = PropertyList.dictionary(contents.entries)
        return !row.value.isContainer
            || contents.conflicts.contains { place in
                place.components.starts(with: row.path.components) && (place == row.path || root[place] == nil)
            }
    }

    /// Executes a command on the selected entry.
    mutating func performOnRow(_ command: ScreenCommand) -> [Effect] {
        guard let row else { return refuse("No entry is selected.") }
        switch command {
        case .enter where hasDecision(at: row): return [.conflicts(row.path)]
        case .enter, .toggle: return act()
        case .editText: return isSecret(row) ? refuse("A secret cannot be edited as text.") : [.edit(row.path)]
        case .rename: startNaming(row, .rename(target(row.path)))
        case .copy: startNaming(row, .copy(target(row.path)))
        case .delete: return [.change(.delete(row.path))]
        case .reset: return [.change(.delete(EntryPath(Array(row.path.components.prefix(1)))))]
        case .moveUp: return moveElement(-1)
        case .moveDown: return moveElement(1)
        case .changeType:
            if isSecret(row) { return refuse("The type of a secret cannot be changed.") }
            mode = .choosingType(target(row.path), Self.kinds.firstIndex(of: row.value.kind) ?? 0)
        case .history: return [.history(row.path)]
        case .details:
            mode = .reading(title: row.label, details.map { "\($0.label): \($0.text)" }, scroll: 0)
        case .copyReading, .copyWriting:
            if isSecret(row) { return refuse("A secret cannot be copied.") }
            return [.copy(row.path, writes: command == .copyWriting)]
        default: break
        }
        return []
    }

    /// Executes a command that was typed after a colon.
    mutating func execute(_ command: Prompt) -> [Effect] {
        switch command {
        case .write: message = Message("Every change is saved at once; \(keymap.hint(.undo, "undoes the last one")).")
        case .quit, .writeAndQuit, .discard: return [.finish]
        case .help: return perform(.help)
        case .unknown(let text): return refuse("Unknown command \(text). Commands are \(Prompt.list).")
        }
        return []
    }

    mutating func refuse(_ reason: String) -> [Effect] {
        message = Message(reason, isError: true)
        return []
    }
}
