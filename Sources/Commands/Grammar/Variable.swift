/// The environment variables that the command uses. Each has a row in the manual.
package enum Variable: String, Hashable, Sendable, CaseIterable {
    case home = "HOME"
    case configHome = "XDG_CONFIG_HOME"
    case configFolders = "XDG_CONFIG_DIRS"
    case stateHome = "XDG_STATE_HOME"
    case dataHome = "XDG_DATA_HOME"
    case dataFolders = "XDG_DATA_DIRS"
    case visual = "VISUAL"
    case editor = "EDITOR"
    case temporaryFolder = "TMPDIR"
    case noColor = "NO_COLOR"
    case terminalKind = "TERM"
    case locale = "LC_ALL"
    case localeOfMessages = "LC_MESSAGES"
    case defaultLocale = "LANG"
    case languages = "LANGUAGE"
}
