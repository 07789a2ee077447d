// The outlines that the page draws are those that Python draws.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bodyPath, hexagonsPath, linkPath } from "../../src/kamon/web/static/js/cells.js";

const { cases } = JSON.parse(readFileSync(new URL("../data/bodies.json", import.meta.url), "utf8"));
const withoutSigns = (/** @type {string} */ path) => path.replaceAll("-0.0", "0.0");

test("stones have the outline that Python draws", () => {
  assert.ok(cases.length > 5);
  for (const { stones, outline } of cases) assert.equal(withoutSigns(bodyPath(new Set(stones))), withoutSigns(outline));
});

test("neighbours have the lines between them that Python draws", () => {
  for (const { stones, links } of cases) assert.equal(withoutSigns(linkPath(new Set(stones))), withoutSigns(links));
});

test("no stones have no outline", () => {
  assert.equal(bodyPath(new Set()), "");
  assert.equal(linkPath(new Set()), "");
  assert.equal(hexagonsPath([], 47), "");
});
