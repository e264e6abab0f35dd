// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A separate package, so that the main package does not build the peers.
let package = Package(
    name: "Peers",
    platforms: [.macOS(.v26)],
    targets: [
        .executableTarget(name: "FoundationPeer", swiftSettings: settings),
        .executableTarget(name: "UserDefaultsPeer", swiftSettings: settings),
    ]
)
