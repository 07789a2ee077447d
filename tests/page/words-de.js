// Stands in for the German texts that the server writes.
export default { "{n} day": ["{n} Tag", "{n} Tage"], butterfly: "Schmetterling", red: "rot" };
