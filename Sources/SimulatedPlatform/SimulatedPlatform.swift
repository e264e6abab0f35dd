enum SimulatedPlatformPlaceholder {}
