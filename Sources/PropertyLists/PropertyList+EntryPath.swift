extension PropertyList {
    /// The entry at `path`, or nil where the way leads nowhere.
    public subscript(path: EntryPath) -> PropertyList? {
        var value = self
        for component in path.components {
            guard let next = value.child(component) else { return nil }
            value = next
        }
        return value
    }

    private func child(_ component: EntryPath.Component) -> PropertyList? {
        switch self {
        case .dictionary: self[component.text]
        case .array: component.index.flatMap { self[$0] }
        default: nil
        }
    }

    /// Puts `value` at `path`. Dictionaries that are missing on the way are created; a scalar on the way is an error.
    public mutating func set(_ value: PropertyList, at path: EntryPath) throws(EntryPath.Failure) {
        try edit(path) { entry in entry = value }
    }

    /// Refuses a path that somebody wrote where its end asks a dictionary for the place after the last element. To
    /// `set` it is an empty key, as files have them; who writes a path means one only where it is there already.
    package func checkEnd(of path: EntryPath) throws(EntryPath.Failure) {
        guard path.components.last == .end, self[path] == nil,
            self[EntryPath(path.components.dropLast())]?.kind == .dictionary
        else {
            return
        }
        throw path.failure(.endOfDictionary, at: path.components.count - 1)
    }

    /// Removes the entry at `path` and returns it; nil where there is none.
    @discardableResult
    public mutating func remove(at path: EntryPath) throws(EntryPath.Failure) -> PropertyList? {
        guard self[path] != nil, !path.components.isEmpty else { return nil }
        return try edit(path) { entry in
            defer { entry = nil }
            return entry
        }
    }

    /// Changes the entry at `path` where it lies, without a copy of what surrounds it.
    ///
    /// `body` is given nil where there is no entry, and leaves nil to remove it. A path that is longer than containers
    /// may be deep by default is refused: no writer would take what it leads to.
    public mutating func edit<Result>(
        _ path: EntryPath, _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        let limit = Limits.default.nesting
        guard path.components.count <= limit else {
            let place = EntryPath(Array(path.components[...limit]))
            throw EntryPath.Failure(problem: .nestedTooDeeply(limit: limit), place: place.description)
        }
        var root: PropertyList? = self
        self = .boolean(false)
        defer { self = root ?? .dictionary([:]) }
        return try Self.edit(&root, path, 0, body)
    }

    private static func edit<Result>(
        _ value: inout PropertyList?, _ path: EntryPath, _ depth: Int,
        _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        guard depth < path.components.count else { return try body(&value) }
        switch value?.kind {
        case .dictionary:
            var dictionary = value.takeDictionary()
            defer { value = .dictionary(dictionary) }
            return try dictionary.withValue(forKey: path.components[depth].text) { entry throws(EntryPath.Failure) in
                try edit(&entry, path, depth + 1, body)
            }
        case .array:
            var elements = value.takeArray()
            defer { value = .array(elements) }
            return try edit(elementOf: &elements, path, depth, body)
        case nil: return try edit(missing: &value, path, depth, body)
        case let kind?: throw path.failure(.notAContainer(kind), at: depth)
        }
    }

    private static func edit<Result>(
        elementOf elements: inout [PropertyList], _ path: EntryPath, _ depth: Int,
        _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        let component = path.components[depth]
        if component == .end, path.isLast(depth) {
            var entry: PropertyList?
            let result = try body(&entry)
            if let entry { elements.append(entry) }
            return result
        }
        guard component.isInteger else { throw path.failure(.notAnIndex, at: depth) }
        guard let position = component.index.flatMap(elements.position) else {
            throw path.failure(.outOfBounds(count: elements.count), at: depth)
        }
        var element: PropertyList? = .boolean(false)
        swap(&element!, &elements[position])
        defer {
            if let element { elements[position] = element } else { elements.remove(at: position) }
        }
        return try edit(&element, path, depth + 1, body)
    }

    /// Makes the container that the path goes through, and keeps it if anything is put into it.
    private static func edit<Result>(
        missing value: inout PropertyList?, _ path: EntryPath, _ depth: Int,
        _ body: (inout PropertyList?) throws(EntryPath.Failure) -> Result
    ) throws(EntryPath.Failure) -> Result {
        let component = path.components[depth]
        if component.isInteger { throw path.failure(.missingArray, at: depth) }
        var created: PropertyList? = component == .end && path.isLast(depth) ? .array([]) : .dictionary([:])
        let result = try edit(&created, path, depth, body)
        if let created, created != .dictionary([:]), created != .array([]) { value = created }
        return result
    }
}

extension EntryPath {
    fileprivate func isLast(_ depth: Int) -> Bool { depth == components.count - 1 }

    fileprivate func failure(_ problem: Failure.Problem, at depth: Int) -> Failure {
        Failure(problem: problem, place: EntryPath(Array(components[...depth])).description)
    }
}

extension [PropertyList] {
    /// The position that `index` names, where negative ones count from the end.
    func position(of index: Int) -> Int? {
        let position = index < 0 ? index + count : index
        return indices.contains(position) ? position : nil
    }
}

/// A container taken out of its place has one owner, and so is changed where it lies.
extension PropertyList? {
    fileprivate mutating func takeArray() -> [PropertyList] {
        guard case .array(let elements) = self else { return [] }
        self = nil
        return elements
    }

    fileprivate mutating func takeDictionary() -> PropertyList.Dictionary {
        guard case .dictionary(let dictionary) = self else { return [:] }
        self = nil
        return dictionary
    }
}
