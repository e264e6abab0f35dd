enum PreferencesPlaceholder {}
