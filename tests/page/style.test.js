// The formatter breaks what it can; it leaves templates, comments and texts as they are.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";

const STATIC = new URL("../../src/kamon/web/static/", import.meta.url);
const WIDTH = 120;
/** A text is one key in the catalogues, so it stands on one line. */
const TEXT_ALONE = /^\s*"[^"]+",$/u;

it("no line is wider than 120 columns", () => {
  const names = readdirSync(STATIC, { recursive: true }).filter((name) => /^(?!vendor).*\.(?:js|ts|css)$/u.test(name));
  const wide = names.flatMap((name) =>
    readFileSync(new URL(name, STATIC), "utf8")
      .split("\n")
      .map((line, at) => ({ line, place: `${name}:${at + 1}` }))
      .filter(({ line }) => line.length > WIDTH && !TEXT_ALONE.test(line))
      .map(({ place }) => place),
  );
  assert.ok(names.length > 20);
  assert.deepEqual(wide, []);
});
