internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let edit = Verb(
        "edit", .new, "change a domain as text in $VISUAL or $EDITOR",
        details: [
            "What is saved is checked first; a mistake opens the editor again, until it is left as it is. A text that was not changed changes nothing.",
            "What others changed meanwhile is merged key by key. Where both have changed a key, nothing is written, and the text is kept in a file that is named.",
        ],
        options: [.format([.xml, .json, .openstep, .gnustep], "the format of the text"), .layer, .force],
        forms: [[.domain]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let editing = Editing(
            access: access, domain: domain, format: invocation.format?.ofPropertyList,
            isForced: invocation.has(.force))
        try editing.run()
        return .done
    }
}
