// Trips
