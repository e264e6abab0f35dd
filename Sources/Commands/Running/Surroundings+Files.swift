internal import Platform

extension Surroundings {
    /// Judges files one by one, so that one that cannot be read does not keep the others from it; the worst that is found.
    func worst(of names: [String], _ judge: (String) throws -> ExitStatus) throws -> ExitStatus {
        var worst = ExitStatus.done
        for name in names {
            var status: ExitStatus
            do {
                status = try judge(name)
            } catch let failure as CommandFailure where failure.status != .usage {
                try note(failure.lines.joined(separator: "\n"))
                status = failure.status
            } catch let failure as SystemFailure where failure.path != nil {
                try note(failure.description)
                status = .systemFailed
            }
            if Self.rank(status) > Self.rank(worst) { worst = status }
        }
        return worst
    }

    /// That a file is damaged was the question, so it counts for more than that another one could not be asked.
    private static func rank(_ status: ExitStatus) -> Int32 {
        status == .damaged ? .max : status.rawValue
    }
}
