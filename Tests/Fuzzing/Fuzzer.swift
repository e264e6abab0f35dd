// Built by `Tests/run fuzz`. The linked libFuzzer has the `main` function.
#if FUZZER
    private let target: Target = {
        let name = environmentVariable("PREFS_FUZZ") ?? ""
        guard let target = Target(rawValue: name) else {
            abortWithMessage("PREFS_FUZZ must be one of \(Target.allCases.map(\.rawValue)), not “\(name)”")
        }
        return target
    }()

    @_cdecl("LLVMFuzzerTestOneInput")
    public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
        do {
            try target.check(UnsafeBufferPointer(start: start, count: count))
        } catch {
            abortWithMessage("\(error)")
        }
        return 0
    }
#endif
