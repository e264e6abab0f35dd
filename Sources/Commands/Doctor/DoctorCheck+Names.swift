internal import Platform
internal import Preferences
internal import PropertyLists
internal import Queries

extension DoctorCheck {
    /// Domains whose names have the same characters but not the same bytes, such as "\u{E9}" as one scalar and as two.
    static let namesThatLookAlike = DoctorCheck(subject: "domains whose names look alike") { doctor in
        let names = Set(doctor.domains.map(\.name)).sorted()
        // The names are grouped as Swift compares strings: by canonical equivalence.
        let twins = Dictionary(grouping: names, by: \.text).values.filter { $0.count > 1 }
        let listed = twins.sorted { $0[0] < $1[0] }.map { names in
            DoctorFinding(
                names[0].text,
                "\(names.count) domains look the same: \(names.map(\.text.asEscapedWord).joined(separator: ", "))",
                .advice("they are separate; to merge them, export one and import it into the other, then delete it"))
        }
        return listed
            + doctor.domains.compactMap { domain in
                guard domain.layer == .user, let other = otherSpelling(of: domain, among: names, doctor) else {
                    return nil
                }
                return DoctorFinding(
                    domain.name.text,
                    "its file system treats \(domain.name.text.asEscapedWord) and \(other.text.asEscapedWord) as one name, so they are one domain",
                    .advice("other file systems and mirrors distinguish them; use one spelling everywhere"))
            }
    }

    /// Returns another name that leads to the file of a domain although no file has it.
    private static func otherSpelling(
        of domain: CheckedDomain, among names: [DomainName], _ doctor: DoctorContext
    ) -> DomainName? {
        let place = domain.file.place(on: doctor.system)
        guard let status = try? doctor.files.status(of: place) else { return nil }
        return domain.name.text.otherNormalForms.compactMap { try? DomainName($0) }.first { other in
            let path = doctor.user.file(of: other).place(on: doctor.system)
            let found = try? doctor.files.status(of: path)
            return !names.contains(other) && found?.number == status.number
        }
    }
}

extension String {
    /// The text as a word of bash and zsh, with escapes for characters beyond ASCII.
    fileprivate var asEscapedWord: String {
        var word = ""
        for scalar in unicodeScalars {
            let digits = String(scalar.value, radix: 16)
            switch scalar {
            case "'", "\\": word += "\\\(scalar)"
            case _ where scalar.isASCII: word.unicodeScalars.append(scalar)
            case _ where digits.count <= 4: word += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: word += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            }
        }
        return "$'\(word)'"
    }
}
