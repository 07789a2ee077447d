// The module /artwork.js, which the server writes (pages.py); tsconfig.json leads here.
declare const data: import("./types").Artwork;
export default data;
