import Platform
import Preferences
import PropertyLists

// Tasks that make a number of changes. None may be lost.

extension Worker {
    /// `add DOMAIN KEY COUNT`: increments a number repeatedly, each time in a transaction.
    func add() throws {
        let (defaults, counter) = (try defaults(), Setting(try argument(1), default: 0))
        for _ in 0..<(try number(2)) { try defaults.transaction { $0[counter] += 1 } }
    }

    /// `fill DOMAIN PREFIX COUNT transaction|synchronize|set`: gives each of many keys its number.
    func fill() throws {
        let (defaults, prefix, manner) = (try defaults(), try argument(1), try argument(3))
        for number in 0..<(try number(2)) {
            let setting = Setting("\(prefix).\(number)", default: -1)
            switch manner {
            case "transaction": try defaults.transaction { $0[setting] = number }
            case "synchronize":
                defaults[setting] = number
                guard defaults.synchronize() else { throw Misuse("a file that can be written") }
            default: defaults[setting] = number
            }
        }
    }

    /// `compete DOMAIN KEY COUNT`: increments a number that others change too, each time only if it is unchanged since
    /// it was read.
    func compete() throws {
        let (defaults, counter) = (try defaults(), Setting(try argument(1), default: 0))
        var left = try number(2)
        var mistakes = 0
        while left > 0 {
            let value = try defaults.value(of: counter)
            if try defaults.replace(counter, expecting: value, with: value + 1) { left -= 1 } else { mistakes += 1 }
        }
        say("\(mistakes)")
    }

    /// `set DOMAIN KEY VALUE return|exit`: sets a number and ends the program without a flush.
    func setAndEnd() throws {
        let defaults = try defaults()
        defaults.set(try number(2), forKey: try argument(1))
        if try argument(3) == "exit" { end(status: 3) }
    }

    /// `write DOMAIN KEY VALUE`: makes one change like a command. Look-ups of two missing files mark its start and its
    /// end in a trace of the system calls.
    func writeOnce() throws {
        let (key, value) = (try argument(1), try number(2))
        let (system, file) = (try system, try file(0))
        _ = try system.fileSystem.status(of: "/beginning-of-the-write", followingLink: false)
        try DomainWriter(system, WriteAuthor(.write, by: system)).commit([
            DomainEdit(file) { $0.values[key] = .integer(PropertyList.Integer(value)) }
        ])
        _ = try system.fileSystem.status(of: "/end-of-the-write", followingLink: false)
    }
}
