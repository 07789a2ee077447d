// The module sentences.js beside this, which the server writes (pages/assets.py).
declare const data: import("./js/page").Sentences;
export default data;
