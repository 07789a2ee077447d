// Stands in for the German texts that the server writes.
export default { "{n} days": "{n} Tage", butterfly: "Schmetterling", red: "rot" };
