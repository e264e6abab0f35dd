internal import Platform
internal import PropertyLists

extension StoreFailure {
    /// Whether the file itself is at fault, so that a kept version can stand in for it.
    package var isDamage: Bool {
        switch problem {
        case .damaged, .notADictionary: true
        default: false
        }
    }
}

extension DomainFile {
    /// The newest good version that is kept, in place of the damaged file.
    func recovered(from damage: StoreFailure, on machine: Machine) throws(StoreFailure) -> DomainContents {
        guard let newest = History(of: self, on: machine)?.newestGood else { throw damage }
        let status = try reporting { () throws(SystemFailure) in try machine.fileSystem.status(of: path) }
        return DomainContents(
            values: newest.values, format: damagedFormat(damage), status: status,
            recovery: Recovery(damage: damage, version: newest.version))
    }

    /// What is to replace the damaged file is written in the format that it seemed to have.
    private func damagedFormat(_ damage: StoreFailure) -> PropertyList.Format {
        guard case .damaged(let failure, _) = damage.problem, failure.offset > 0, failure.format != .openstep else {
            return newFormat
        }
        return failure.format
    }

    /// Keeps the damaged file that is about to be replaced, under a name of its own beside it.
    func keepDamaged(_ target: FilePath, on machine: Machine) throws(SystemFailure) {
        guard let name = target.lastComponent else { return }
        for number in 1...100 {
            let count = number == 1 ? "" : "-\(number)"
            guard let ending = FileName(".damaged-\(machine.clock.wall.milliseconds)\(count)") else { return }
            let kept = target.parent.appending(name.appending(ending))
            do throws(SystemFailure) {
                return try machine.fileSystem.link(target, to: kept)
            } catch  where error.code == .exists {
                continue
            } catch  where error.code == .noSpace || error.code == .readOnly {
                throw error
            } catch {
                // Not every file system has links.
                guard
                    let bytes = try machine.fileSystem.contents(
                        of: target, limit: PropertyList.Limits.default.inputBytes)
                else { return }
                return try machine.fileSystem.replace(kept, with: bytes)
            }
        }
        throw SystemFailure(.exists, .link, target)
    }
}
