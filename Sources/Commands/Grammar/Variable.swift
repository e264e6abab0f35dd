/// The variables of the environment that the command heeds. The manual has a row for each.
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
}
