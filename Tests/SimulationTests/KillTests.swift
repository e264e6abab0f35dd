import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

/// A host dies at each of its steps, in a separate run for each step.
@Suite struct `A host that dies` {
    /// A preparation, and the host that then dies during a sync.
    struct Script: Sendable {
        let name: String
        var compacts = false
        let prepare: @Sendable (Bench) -> SimulatedHost
    }

    static let scripts = [
        Script(name: "compaction", compacts: true) { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            for number in 0..<3 {
                host.set("a", to: .string("a\(number)"))
                peer.set("b", to: .string("b\(number)"))
                bench.comeToRest()
            }
            host.set("c", to: "last")
            return host
        },
        Script(name: "pull of a base and a tail") { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            peer.set("a", to: "in the base")
            peer.sync(compacts: true)
            for number in 0..<2 {
                peer.set("b", to: .string("b\(number)"))
                peer.publishNow()
            }
            host.edit("a", to: "beaten or not")
            bench.settle()
            return host
        },
        Script(name: "another name") { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            bench.comeToRest()
            let clone = bench.clone(host, "clone")
            clone.set("a", to: "of the clone")
            clone.publishNow()
            peer.set("b", to: "of the peer")
            peer.publishNow()
            bench.settle()
            host.set("a", to: "of the host")
            host.set("c", to: "said by nobody else")
            return host
        },
        Script(name: "long values", compacts: true) { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            host.set("a", to: .string(String(repeating: "a", count: 70_000)))
            bench.comeToRest()
            peer.set("b", to: .string(String(repeating: "b", count: 70_000)))
            peer.publishNow()
            bench.settle()
            host.edit("a", to: .string(String(repeating: "c", count: 70_000)))
            return host
        },
        Script(name: "the last word") { bench in
            let (host, _) = (bench.host("host"), bench.host("peer"))
            bench.comeToRest()
            host.command(.leave)
            host.edit("a", to: "last")
            return host
        },
        Script(name: "lost files") { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            host.set("a", to: "in the base")
            bench.comeToRest()
            host.sync(compacts: true)
            bench.comeToRest()
            for other in [host, peer] { other.view = other.view.filter { $0.key.writer != host.durable.writer } }
            host.edit("b", to: "while they were lost")
            return host
        },
        Script(name: "a folder that is purged") { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            peer.set("a", to: "of one who is gone")
            bench.comeToRest()
            bench.world.hosts.removeAll { $0 === peer }
            host.command(.purge(peer.durable.writer))
            host.edit("b", to: "of one who stays")
            return host
        },
        Script(name: "two domains at once") { bench in
            let (host, peer) = (bench.host("host"), bench.host("peer"))
            bench.comeToRest()
            peer.edit("a", to: 1, in: "s")
            peer.edit("a", to: 1, in: "t")
            peer.sync()
            bench.settle()
            host.edit("b", to: "own", in: "t")
            return host
        },
    ]

    @Test(arguments: scripts.indices) func `loses nothing at any step`(_ index: Int) {
        let script = Self.scripts[index]
        let last = Extent.operations(every: 4, stream: script.name).first { step in
            let bench = Bench()
            let host = script.prepare(bench)
            host.breaksAt = host.stepCount + step
            host.sync(compacts: script.compacts)
            let hasDied = host.stepCount == host.breaksAt
            // Everything else is at least in the state that the records produce.
            #expect(host.engine.status.matches(host.durable), "\(script.name), step \(step)")
            bench.comeToRest()
            bench.comeToRest()
            #expect(bench.isSound, "\(script.name), step \(step)")
            return !hasDied
        }
        #expect(last ?? 0 > 8, "\(script.name)")
    }
}

@Suite struct `The cost of a change` {
    @Test func `is a file of proportional size, whatever there was before`() throws {
        let bench = Bench()
        let host = bench.host("host")
        host.save("s") { values in for number in 0..<3000 { values["a key of some length \(number)"] = "former value" }
        }
        host.sync(compacts: true)
        let before = Set(bench.world.files.keys)
        host.save("s") { values in for number in 0..<100 { values["a key of some length \(number)"] = "another value" }
        }
        host.sync()
        let new = bench.world.files.filter { !before.contains($0.key) }
        #expect(new.count == 1 && new.allSatisfy { $0.value.size < 20_000 })
    }
}
