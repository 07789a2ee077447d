// The module artwork.js beside this, which the server writes (pages.py).
declare const data: import("./js/page").Artwork;
export default data;
