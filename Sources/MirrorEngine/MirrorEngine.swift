enum MirrorEnginePlaceholder {}
