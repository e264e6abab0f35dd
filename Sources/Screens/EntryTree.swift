package import PropertyLists

/// The entries of a dictionary as a tree of rows. A row is created only on request, so that the time to draw a screen
/// does not depend on the number of entries.
package struct EntryTree: Sendable {
    package struct Row: Sendable {
        package let path: EntryPath
        package let value: PropertyList
        package let isOpen: Bool
        /// The key or the index.
        let label: String
        /// The columns of the label and of the marks before it.
        let labelColumns: Int

        var depth: Int { path.components.count - 1 }

        init(_ path: EntryPath, _ value: PropertyList, isOpen: Bool) {
            (self.path, self.value, self.isOpen) = (path, value, isOpen)
            label = path.components.last?.text ?? ""
            labelColumns = 2 * path.components.count + label.shownColumns
        }
    }

    /// A container that is open: the number of its entries, and those of them that are open too.
    private struct Branch: Sendable {
        struct Inner: Sendable {
            let index: Int
            var branch: Branch
            /// The rows inside the open entries before this one.
            var before = 0
        }

        var count: Int
        /// In the order of their indices.
        var inner: [Inner] = [] {
            didSet {
                rows = count
                for at in inner.indices {
                    inner[at].before = rows - count
                    rows += inner[at].branch.rows
                }
            }
        }
        /// The number of rows of all entries, including those inside open ones.
        var rows: Int

        init(_ value: PropertyList) {
            count = value.entryCount
            rows = count
        }

        /// The position in `inner` of the first open entry whose index is at least `index`.
        func place(of index: Int) -> Int { inner.partition { $0.index >= index } }
    }

    package private(set) var root: PropertyList { didSet { latest = (0..<0, []) } }
    private var branch: Branch { didSet { latest = (0..<0, []) } }
    /// The rows that were requested last, which do not change until the tree does.
    private var latest: (range: Range<Int>, rows: [Row]) = (0..<0, [])
    /// The number of rows created so far.
    package private(set) var made = 0

    package init(_ entries: PropertyList.Dictionary = [:]) {
        root = .dictionary(entries)
        branch = Branch(root)
    }

    package var count: Int { branch.rows }

    // MARK: Rows

    /// Creates the rows at a range of positions, as far as they exist.
    package mutating func rows(_ range: Range<Int>) -> [Row] {
        let range = range.clamped(to: 0..<count)
        if range == latest.range { return latest.rows }
        let rows = range.map { position in
            if latest.range.contains(position) { return latest.rows[position - latest.range.lowerBound] }
            made += 1
            return row(indices(at: position))
        }
        latest = (range, rows)
        return rows
    }

    package func row(at position: Int) -> Row? {
        (0..<count).contains(position) ? row(indices(at: position)) : nil
    }

    private func row(_ indices: [Int]) -> Row {
        var (value, components, open) = (root, [EntryPath.Component](), Branch?.some(branch))
        for index in indices {
            let entry = value.entry(at: index)
            components.append(entry.component)
            value = entry.value
            open = open.flatMap { branch in
                let place = branch.place(of: index)
                return branch.inner.indices.contains(place) && branch.inner[place].index == index
                    ? branch.inner[place].branch : nil
            }
        }
        return Row(EntryPath(components), value, isOpen: open != nil)
    }

    /// The indices of the entries that lead to the row at a position.
    private func indices(at position: Int) -> [Int] {
        var (branch, rest, indices) = (branch, position, [Int]())
        while true {
            // The last open entry that is above the row.
            let place = branch.inner.partition { $0.index + $0.before >= rest } - 1
            guard place >= 0 else {
                indices.append(rest)
                return indices
            }
            let inner = branch.inner[place]
            let offset = rest - inner.index - inner.before - 1
            if offset >= inner.branch.rows {
                return indices + [rest - inner.before - inner.branch.rows]
            }
            indices.append(inner.index)
            (branch, rest) = (inner.branch, offset)
        }
    }

    /// Returns the position of the row of an entry, or of the closed container that it is in.
    private func position(of indices: [Int]) -> Int {
        var (branch, position) = (branch, -1)
        for index in indices {
            let place = branch.place(of: index)
            let hasOpen = branch.inner.indices.contains(place)
            position += 1 + index + (hasOpen ? branch.inner[place].before : branch.rows - branch.count)
            guard hasOpen, branch.inner[place].index == index else { break }
            branch = branch.inner[place].branch
        }
        return position
    }

    /// Returns the position of the row of an entry, or of the last container on the way to it that has a row.
    package func position(of path: EntryPath) -> Int? {
        let indices = indices(of: path)
        return indices.isEmpty ? nil : position(of: indices)
    }

    // MARK: Opening

    /// Opens or closes the container at a position.
    package mutating func toggle(at position: Int) {
        guard (0..<count).contains(position) else { return }
        let indices = indices(at: position)
        let row = row(indices)
        if row.value.isContainer { set(indices, isOpen: !row.isOpen) }
    }

    private mutating func set(_ indices: [Int], isOpen: Bool) {
        Self.set(indices[...], isOpen: isOpen, in: &branch, root)
    }

    private static func set(_ indices: ArraySlice<Int>, isOpen: Bool, in branch: inout Branch, _ value: PropertyList) {
        guard let index = indices.first else { return }
        let place = branch.place(of: index)
        let exists = branch.inner.indices.contains(place) && branch.inner[place].index == index
        let entry = value.entry(at: index).value
        if indices.count == 1, !isOpen {
            if exists { branch.inner.remove(at: place) }
            return
        }
        if !exists { branch.inner.insert(.init(index: index, branch: Branch(entry)), at: place) }
        set(indices.dropFirst(), isOpen: isOpen, in: &branch.inner[place].branch, entry)
    }

    /// Opens the containers that lead to an entry, and returns its position, or that of the last container that exists.
    @discardableResult
    package mutating func reveal(_ path: EntryPath) -> Int? {
        let indices = indices(of: path)
        reveal(indices)
        return indices.isEmpty ? nil : position(of: indices)
    }

    /// Opens the containers that lead to an entry.
    private mutating func reveal(_ indices: [Int]) {
        for depth in indices.indices.dropFirst() { set(Array(indices[..<depth]), isOpen: true) }
    }

    /// The indices of the entries that lead to an entry, as far as they exist.
    private func indices(of path: EntryPath) -> [Int] {
        var (value, indices) = (root, [Int]())
        for component in path.components {
            guard let index = component == .end ? value.lastIndex : value.index(of: component) else { break }
            indices.append(index)
            value = value.entry(at: index).value
        }
        return indices
    }

    /// Replaces the entries. Open containers stay open if they still exist.
    package mutating func update(_ entries: PropertyList.Dictionary) {
        let former = self
        root = .dictionary(entries)
        branch = Self.moved(former.branch, from: former.root, to: root)
    }

    private static func moved(_ branch: Branch, from former: PropertyList, to value: PropertyList) -> Branch {
        var new = Branch(value)
        guard !branch.inner.isEmpty else { return new }
        var places: [EntryPath.Component: Int] = [:]
        if case .dictionary(let entries) = value {
            for (index, entry) in entries.enumerated() { places[EntryPath.Component(entry.key)] = index }
        }
        new.inner = branch.inner.compactMap { inner in
            let old = former.entry(at: inner.index)
            let index = places[old.component] ?? (value.arrayValue == nil ? nil : inner.index)
            guard let index, index < new.count else { return nil }
            let entry = value.entry(at: index).value
            return entry.isContainer
                ? .init(index: index, branch: moved(inner.branch, from: old.value, to: entry)) : nil
        }.sorted { $0.index < $1.index }
        return new
    }
}

extension PropertyList {
    /// The number of elements or entries; 0 for other values.
    package var entryCount: Int {
        switch self {
        case .array(let elements): elements.count
        case .dictionary(let entries): entries.count
        default: 0
        }
    }

    func entry(at index: Int) -> (component: EntryPath.Component, value: PropertyList) {
        switch self {
        case .array(let elements): (EntryPath.Component(index), elements[index])
        case .dictionary(let entries): (EntryPath.Component(entries[index].key), entries[index].value)
        default: preconditionFailure("only containers have entries")
        }
    }

    /// The index of an array's last element.
    fileprivate var lastIndex: Int? { arrayValue.flatMap { $0.isEmpty ? nil : $0.count - 1 } }

    fileprivate func index(of component: EntryPath.Component) -> Int? {
        switch self {
        case .array(let elements): component.index.flatMap { elements.indices.contains($0) ? $0 : nil }
        case .dictionary(let entries): entries.firstIndex { EntryPath.Component($0.key) == component }
        default: nil
        }
    }
}

extension Array {
    /// Returns the index of the first element that meets a condition, by binary search. All later elements must meet it
    /// too.
    fileprivate func partition(_ isMet: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isMet(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
