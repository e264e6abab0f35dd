enum PreferencesMirrorPlaceholder {}
