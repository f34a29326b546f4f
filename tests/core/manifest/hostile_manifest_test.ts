import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { parse } from "yaml";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { FILE, issuesOf, manifestText } from "./manifest_text.ts";
import { FULL_SAMPLE } from "./samples.ts";
import fc from "../../support/fast_check.ts";

/** Whether the text gave a manifest. Anything but a manifest or `manifest.invalid` with issues fails the test. */
async function isManifest(text: string): Promise<boolean> {
  try {
    const { manifest } = await parseManifest(text, { file: FILE });
    assert.equal(typeof manifest.name, "string");
    return true;
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    assert.equal(thrown.code, "manifest.invalid");
    const { issues } = thrown.data as { issues: { line: number; column: number }[] };
    assert.ok(issues.length > 0);
    for (const { line, column } of issues) assert.ok(line >= 1 && column >= 1, `${line}:${column}`);
    return false;
  }
}

/** Ways to break a manifest that do not touch each other: lines to add, fields to change, the issue to expect. */
const BREAKS: readonly { more?: string; fields?: Record<string, string | null>; code: string; path: string }[] = [
  { fields: { name: "Notes" }, code: "manifest.invalid_name", path: "name" },
  { fields: { version: "one" }, code: "manifest.invalid_version", path: "version" },
  { fields: { kaged_api: "9" }, code: "manifest.unsupported_api", path: "kaged_api" },
  { fields: { description: null }, code: "manifest.missing_field", path: "description" },
  { fields: { command: "[../x]" }, code: "manifest.outside_command", path: "command[0]" },
  { fields: { capabilities: "[net: [], net:*]" }, code: "capability.net_contradiction", path: "capabilities[0]" },
  { more: "author: 1", code: "manifest.wrong_type", path: "author" },
  { more: "env: { LD_X: a }", code: "manifest.forbidden_env_name", path: "env.LD_X" },
  { more: "roles: [compactor]", code: "manifest.compactor_without_hook", path: "roles[0]" },
  { more: "hooks: [nope]", code: "manifest.unknown_hook", path: "hooks[0]" },
  { more: "tools: [{ name: X }]", code: "manifest.invalid_tool_name", path: "tools[0].name" },
  { more: "methods: [kaged.x]", code: "manifest.reserved_method_name", path: "methods[0]" },
  { more: "notifications: [x]", code: "manifest.invalid_method_name", path: "notifications[0]" },
  { more: "config_schema: { type: array }", code: "manifest.schema_not_object", path: "config_schema.type" },
  { more: "knobs: { k: { binds_to: config.x } }", code: "manifest.unknown_knob_target", path: "knobs.k.binds_to" },
  { more: "hook_timeout_sec: 99", code: "manifest.out_of_range", path: "hook_timeout_sec" },
  { more: "homepage: !x https://a", code: "manifest.yaml_tag", path: "homepage" },
  { more: "health_interval_sec: .nan", code: "manifest.yaml_number", path: "health_interval_sec" },
  { more: "colour: red", code: "manifest.unknown_key", path: "colour" },
  { more: "shape: 1\nshape: 2", code: "manifest.yaml_duplicate_key", path: "" },
];

test("K-042 any mistakes together are all reported at once", async () => {
  await fc.assert(fc.asyncProperty(fc.subarray([...BREAKS]), async (breaks) => {
    const fields = Object.assign({}, ...breaks.map(({ fields }) => fields));
    const issues = await issuesOf(manifestText(breaks.map(({ more }) => more ?? "#").join("\n"), fields));
    for (const { code, path } of breaks) {
      assert.ok(issues.some((issue) => issue.code === code && issue.path === path), `${code} ${path}`);
    }
    if (breaks.length === 0) assert.deepEqual(issues, []);
  }));
});

test("a manifest with any part replaced by any text is a manifest or a list of issues", async () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom(
      "[",
      "]",
      "{",
      "}",
      ": ",
      "- ",
      "? ",
      "&a ",
      "*a",
      "!x ",
      "|\n",
      ">-\n",
      "'",
      '"',
      "---\n",
      "\t",
      "%",
    ),
  );
  const place = fc.nat({ max: FULL_SAMPLE.length });
  await fc.assert(
    fc.asyncProperty(place, fc.nat({ max: 40 }), fc.array(piece, { maxLength: 4 }), async (at, cut, texts) => {
      await isManifest(FULL_SAMPLE.slice(0, at) + texts.join("") + FULL_SAMPLE.slice(at + cut));
    }),
    { numRuns: 150 },
  );
});

test("a manifest with any value in any field is a manifest or a list of issues", async () => {
  const sample: Record<string, unknown> = parse(FULL_SAMPLE);
  const values = fc.jsonValue({ maxDepth: 3 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(sample)), values, async (field, value) => {
      await isManifest(JSON.stringify({ ...sample, [field]: value }));
    }),
    { numRuns: 150 },
  );
});

test("a name that cannot become text is an issue, also where tools stand beside it", async () => {
  const sample: Record<string, unknown> = parse(FULL_SAMPLE);
  assert.equal(await isManifest(JSON.stringify({ ...sample, name: { toString: false } })), false);
});

test("no case of the YAML test suite is more than a list of issues", async () => {
  const folder = new URL("../../corpora/yaml-test-suite/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  let cases = 0;
  for (const name of names) {
    const file = await readFile(new URL(name, folder), "utf8");
    assert.equal(await isManifest(file), false, name);
    for (const { yaml } of parse(file) as { yaml?: string }[]) {
      if (yaml === undefined) continue;
      cases++;
      const text = unmarked(yaml);
      assert.equal(await isManifest(text), false, name);
      // The same text as part of a manifest: a value, and what follows one.
      await isManifest(`${manifestText()}${text}`);
      await isManifest(manifestText(`env:\n${text.replace(/^/gm, "  ")}`));
    }
  }
  assert.ok(cases > 150, `${cases} cases`);
});

/** Returns a case of the suite with its visible marks turned into what they stand for. */
function unmarked(yaml: string): string {
  return yaml.replaceAll("␣", " ").replace(/—*»/g, "\t").replaceAll("↵", "").replaceAll("⇔", "\ufeff")
    .replaceAll("←", "\r").replace(/∎\n?$/, "");
}
