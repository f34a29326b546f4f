/**
 * Writes the API reference of every entry as a website.
 *
 *   npm run docs:api                  into docs/api/ (ignored by git)
 *   npm run docs:api -- --out <dir>   elsewhere
 */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";

const { values: { out } } = parseArgs({ options: { out: { type: "string", default: "docs/api" } } });
const { name, exports } = JSON.parse(await readFile("deno.json", "utf8"));
const entries = Object.values<string>(exports);
execFileSync("node_modules/.bin/deno", ["doc", "--html", "--quiet", `--name=${name}`, `--output=${out}`, ...entries], {
  stdio: ["ignore", "inherit", "inherit"],
});
process.stdout.write(`wrote ${out}/index.html\n`);
