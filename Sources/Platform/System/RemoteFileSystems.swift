#if os(Linux)
    /// `statfs`, which Swift's module of the C library omits. The first word of the record is the file system type.
    @_silgen_name("statfs")
    private func fileSystemStatus(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<Int>) -> Int32

    /// Returns whether the folder, or its nearest existing ancestor, is on a file system that other machines can change
    /// without notifications.
    func isRemote(_ folder: FilePath) -> Bool {
        var folder = folder
        // The record has 120 bytes; this reserves 512.
        var status = [Int](repeating: 0, count: 64)
        while folder.withCString({ fileSystemStatus($0, &status) }) != 0 {
            guard folder.parent != folder else { return false }
            folder = folder.parent
        }
        return remoteTypes.contains(UInt32(truncatingIfNeeded: status[0]))
    }

    /// The types of network file systems, and of FUSE, which sshfs uses.
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
