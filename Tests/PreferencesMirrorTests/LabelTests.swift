import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `The label of a host` {
    private func options(_ label: String) -> MirrorPlaces.JoinOptions {
        var options = MirrorPlaces.JoinOptions()
        options.label = label
        return options
    }

    @Test(arguments: [(256, true), (257, false)])
    func `is limited to what others can read`(_ length: Int, _ isFit: Bool) throws {
        let label = String(repeating: "x", count: length)
        let bench = try MirrorBench()
        let (first, second) = (try bench.stranger("a"), try bench.stranger("b"))
        if isFit {
            _ = try first.places.initialise(MirrorBench.directory, options(label))
            _ = try second.places.join(MirrorBench.directory, options(label))
            try bench.comeToRest([first, second])
            #expect(try second.status().hosts.map(\.label) == [label])
        } else {
            #expect(throws: MirrorFailure.self) {
                try first.places.initialise(MirrorBench.directory, options(label))
            }
            #expect(try bench.directoryContents().isEmpty, "nothing was begun")
            try first.enter(isFirst: true)
            #expect(throws: MirrorFailure.self) { try second.places.join(MirrorBench.directory, options(label)) }
            #expect(second.places.joined.isEmpty)
        }
    }

    @Test func `is published when it changes`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        _ = try hosts[0].places.join(MirrorBench.directory, options("other"))
        #expect(throws: MirrorFailure.self) { try hosts[0].places.join(MirrorBench.directory, options("other")) }
        try bench.comeToRest(hosts)
        #expect(try hosts[1].status().hosts.map(\.label) == ["other"])
        let moved: FilePath = "/home/ada/moved"
        try hosts[0].fileSystem.rename(MirrorBench.directory, to: moved)
        _ = try hosts[0].places.join(moved, options("renamed"))
        try hosts[1].enter(isFirst: false, at: moved)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].status().hosts.map(\.label) == ["renamed"])
        #expect(try hosts.map { try $0.session().isAtRest } == [true, true])
    }
}
