// Gateways
