// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A package of its own, since nothing in the one around it imports Foundation.
let package = Package(
    name: "Peers",
    platforms: [.macOS(.v26)],
    targets: [
        .executableTarget(name: "FoundationPeer", swiftSettings: settings),
        .executableTarget(name: "UserDefaultsPeer", swiftSettings: settings),
    ]
)
