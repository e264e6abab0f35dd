#if os(Linux)
    /// `statfs`, which Swift's module of the C library leaves out. The record begins with the type, a word.
    @_silgen_name("statfs")
    private func fileSystemStatus(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<Int>) -> Int32

    /// Whether the folder, or the nearest one above it, lies on a file system whose changes others make unseen.
    func isRemote(_ folder: FilePath) -> Bool {
        var folder = folder
        // The record has 120 bytes; this is room for four.
        var status = [Int](repeating: 0, count: 64)
        while folder.withCString({ fileSystemStatus($0, &status) }) != 0 {
            guard folder.parent != folder else { return false }
            folder = folder.parent
        }
        return remoteTypes.contains(UInt32(truncatingIfNeeded: status[0]))
    }

    /// The numbers of file systems over a network, and of those that a program makes up (FUSE: sshfs among them).
    private let remoteTypes: Set<UInt32> = [
        0x6969,  // NFS
        0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB 2
        0x6573_5546,  // FUSE
        0x0102_1997,  // 9P
        0x00C3_6400,  // Ceph
        0x5346_414F, 0x6B41_4653,  // AFS
        0x7375_7245,  // Coda
        0x7461_636F,  // OCFS2
        0x0116_1970,  // GFS2
    ]
#endif
