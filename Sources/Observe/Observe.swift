// Observe
