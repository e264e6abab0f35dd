internal import PropertyLists

/// A written value that a preference file shows, and where. The value itself is not stored.
package struct Shown: Hashable, Sendable {
    package var name: AtomName
    package var region: Region
    package let stamp: Stamp

    package init(_ name: AtomName, _ region: Region, _ stamp: Stamp) {
        (self.name, self.region, self.stamp) = (name, region, stamp)
    }
}

extension [Shown] {
    func within(_ region: Region) -> Self {
        compactMap { shown in
            let region = shown.region.intersection(region)
            return region.isEmpty ? nil : Shown(shown.name, region, shown.stamp)
        }
    }

    func subtracting(_ region: Region) -> Self {
        compactMap { shown in
            let region = shown.region.subtracting(region)
            return region.isEmpty ? nil : Shown(shown.name, region, shown.stamp)
        }
    }

    /// Returns what both lists show.
    func inBoth(_ other: Self) -> Self {
        flatMap { shown in other.filter { $0.name == shown.name }.flatMap { [shown].within($0.region) } }
    }
}

extension MergeState {
    /// Returns what a file shows at a key if it has the values in force.
    func shown(at key: Path) -> [Shown] {
        let atoms = overlapping(key)
        if atoms.count == 1, atoms[0].reason != .older {
            return [Shown(atoms[0].name, atoms[0].region, atoms[0].stamp)]
        }
        return cells(under: key).compactMap { cell in
            cell.winner.map { Shown($0.name, cell.region, $0.stamp) }
        }
    }

    /// The values that a write replaces, and the stamp that it must exceed.
    struct Replaced {
        var covers: [Cover] = []
        var stamp: Stamp?
    }

    /// Returns what a write at a path replaces: what its file showed there, and the values that are equal to the one
    /// that was shown or to the one that is written.
    ///
    /// - Parameters:
    ///   - shown: What the file showed at the key, before the write.
    ///   - former: The value that the file showed at the key, or nil if that is unknown.
    func replaced(
        byWriteAt path: Path, of value: WrittenValue, shown: [Shown], showing former: WrittenValue?
    ) -> Replaced {
        let place = path.replaced
        let written = Atom(AtomName(WriteID(number: 0), nil), at: place, value, stamp: .zero)
        let before = former.map { value in
            Atom(AtomName(WriteID(number: 0), nil), at: path.prefix(components: 2), value, stamp: .zero)
        }
        let cells = cells(under: place)
        // What has nothing at a part of a value is not replaced there.
        let isThere = { (atom: Atom, cell: Cell) in cell.part == nil || atom.part(at: cell.place).value != nil }
        let here = cells.first.map { cell in Set(cell.live.filter { isThere($0, cell) }.map(\.name)) } ?? []
        var covers = shown.within(Region(place))
            .filter { cells.first?.part == nil || here.contains($0.name) }.map { Cover($0.name, $0.region) }
        var stamps = shown.filter { $0.region.intersects(Region(place)) || $0.region.contains(place) }.map(\.stamp)
        // Otherwise a value that an entry hides would come into force once the entry is gone. A part is not removed so.
        let hiding = place.merged == nil ? self.cells(under: path.prefix(components: 2)) : []
        for cell in hiding where cell.entry != nil && cell.place.overlaps(place) {
            stamps += [cell.latest].compactMap { $0?.stamp }
        }
        for cell in cells {
            for atom in cell.live where (atom.reason != .older || value == .left) && isThere(atom, cell) {
                let part = atom.part(at: cell.place)
                let isEqual = [before, written].compactMap { $0?.part(at: cell.place) }.contains {
                    part.isSame(as: $0, at: cell.place, except: cell.below[...])
                }
                let kind = cell.part?.kind ?? cell.candidates
                let isBeaten = kind?.isBeaten(part.value, by: former?.value) ?? false
                guard
                    value == .left
                        || Rule.coversEqual.isKept && (isEqual || isBeaten || cell.isEmptied(atom))
                else { continue }
                stamps.append(atom.stamp)
                covers.append(Cover(atom.name, cell.region))
            }
        }
        return Replaced(covers: covers.joined, stamp: stamps.max())
    }
}
