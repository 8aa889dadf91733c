// Embedded
