import assert from "node:assert/strict";
import { test } from "node:test";
import { editTomlTable, type TableEdit } from "../../../src/core/documents/edit_toml.ts";
import { parseToml } from "../../../src/core/documents/read_toml.ts";

const KIND = { room: "local", title: "local.toml", maxBytes: 100_000 };
const edited = async (text: string, edit: TableEdit) =>
  (await editTomlTable(await parseToml(text, "local.toml", KIND), edit)).text;
const edit = (text: string, set: Record<string, string | boolean | string[]>, unset: string[] = []) =>
  edited(text, { table: ["plugins", "notes"], set, unset });

const FILE = `# mine
[models]
fast = 'small' # cheap

# the token of notes
[plugins."@kaged/notes"]
token = "\${TOKEN}" # from the keyring
since = 1979-05-27T07:32:00Z
big = 9223372036854775807

# about weather
[plugins.weather]
enabled = true # needed daily
`;

test("a new table is written at the end, and not one character before it changes", async () => {
  const text = await edit(FILE, { installed: "1.0.0", local: true, projects: ["a", "b"] });
  assert.equal(text, `${FILE}\n[plugins.notes]\ninstalled = "1.0.0"\nlocal = true\nprojects = ["a", "b"]\n`);
  assert.equal(await edit("", { local: true }), "[plugins.notes]\nlocal = true\n");
  assert.equal(await edit("# mine", { local: true }), "# mine\n\n[plugins.notes]\nlocal = true\n");
});

test("a change touches its own value and keeps comments and order", async () => {
  const text = await edited(FILE, { table: ["plugins", "weather"], set: { enabled: false, hash: "x" } });
  assert.equal(text, FILE.replace("enabled = true #", "enabled = false #") + 'hash = "x"\n');
});

test("a change that changes nothing gives the text back", async () => {
  assert.equal(
    await edited(FILE, { table: ["plugins", "weather"], set: { enabled: true } }),
    FILE,
  );
  assert.equal(await edit(FILE, {}, ["installed"]), FILE);
  assert.equal(await edit("[models]\n", {}, ["installed"]), "[models]\n");
});

test("a table that goes away takes its own lines, and leaves the comments of its neighbours", async () => {
  const table = '[plugins.notes]\n# inside\ninstalled = "1.0.0" # why\nlocal = true\n';
  const gone = (text: string) => edit(text, {}, ["installed", "local"]);
  assert.equal(await gone(`${FILE}\n${table}`), `${FILE}\n`);
  assert.equal(await gone(`${table}\n${FILE}`), FILE);
  assert.equal(await gone(FILE.replace("# about weather", `${table}\n# about weather`)), FILE);
  assert.equal(await gone('[ plugins . "notes" ]\nlocal = true\n'), "");
});

test("what a table shares with secrets stays: only the record's keys go", async () => {
  const text = '[plugins.notes]\ninstalled = "1.0.0"\ntoken = "s" # mine\nlocal = true\n';
  assert.equal(await edit(text, {}, ["installed", "local"]), '[plugins.notes]\ntoken = "s" # mine\n');
  const noted = '[plugins.notes]\n# the record\ninstalled = "1.0.0" # then\n# the secret\ntoken = "s"\n';
  const left = '[plugins.notes]\n# the record\n# the secret\ntoken = "s"\n';
  assert.equal(await edit(noted, {}, ["installed", "local"]), left);
});

test("tables written inline or with dots are changed too", async () => {
  assert.equal(
    await edit("[plugins]\nnotes = { local = true, enabled = true }\nb = { local = true }\n", { enabled: false }),
    "[plugins]\nnotes = { local = true, enabled = false }\nb = { local = true }\n",
  );
  assert.equal(await edit("plugins.notes.enabled = true\n", { enabled: false }), "plugins.notes.enabled = false\n");
});

test("a change that would touch anything else is refused", async () => {
  // No table can be added below a number.
  await assert.rejects(edit("plugins = 3\n", { local: false }), { code: "local.edit_refused" });
  for (
    const text of [
      "[plugins]\n# about notes\nnotes = { local = true }\n\n[[plugins.notes.more]]\n",
      "= broken",
      'plugins.notes.local = true # a word\nplugins.notes = { token = "s" }\n',
    ]
  ) await assert.rejects(edit(text, { local: false }), { code: "local.invalid" }, text);
});

test("a change for which a comment would have to go is refused", async () => {
  const dotted = 'plugins.notes.installed = "1" # then\nplugins.notes.token = "s"\n';
  await assert.rejects(edit(dotted, {}, ["installed"]), { code: "local.edit_refused" });
});

test("a header inside a text is no header", async () => {
  const text = 'note = """\n[plugins.notes]\nlocal = true\n"""\n[plugins.notes]\nlocal = true\n';
  const left = await edit(text, {}, ["local"]).catch((error) => error.code);
  assert.ok(left === "local.edit_refused" || left.startsWith('note = """\n[plugins.notes]\nlocal = true\n"""'), left);
});
