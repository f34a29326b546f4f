import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import {
  type Change,
  isUnfinished,
  keptName,
  makeChange,
  type PackagePorts,
  recoverPackages,
} from "../../../src/packages/installed/journal.ts";
import { writeRecord } from "../../../src/packages/installed/records.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const { files, ids } = await detectRuntime();

async function store(t: Parameters<typeof scratchDir>[0]) {
  const home = await scratchDir(t);
  for (const [name, version] of [["notes", "1"], [".new_2", "2"]]) {
    await mkdir(join(home, "plugins", name!), { recursive: true });
    await writeFile(join(home, "plugins", name!, "version"), version!);
  }
  await writeFile(join(home, "local.toml"), '# mine\n[plugins.notes]\nversion = "1"\n');
  const dropped: string[] = [];
  const ports: PackagePorts = { home, files, ids, dropStorage: (name) => Promise.resolve(void dropped.push(name)) };
  const upgrade: Change = { op: "install", plugin: "notes", staged: ".new_2", old: ".old_1", record: { version: "2" } };
  const look = async () => ({
    tree: await readFile(join(home, "plugins/notes/version"), "utf8").catch(() => null),
    record: /version = "(.)"/.exec(await readFile(join(home, "local.toml"), "utf8"))?.[1] ?? null,
    names: await files.list(join(home, "plugins")),
  });
  return { home, ports, upgrade, dropped, look };
}

test("an upgrade replaces tree and record, and leaves nothing else", async (t) => {
  const { ports, upgrade, look } = await store(t);
  await makeChange(upgrade, ports);
  assert.deepEqual(await look(), { tree: "2", record: "2", names: ["notes"] });
});

test("an uninstall removes tree, record and data", async (t) => {
  const { home, ports, dropped, look } = await store(t);
  await makeChange({ op: "uninstall", plugin: "notes", old: ".old_1" }, ports);
  assert.deepEqual([(await look()).tree, (await look()).record, dropped], [null, null, ["notes"]]);
  assert.equal(await readFile(join(home, "local.toml"), "utf8"), "# mine\n");
});

test("whatever step is the last before a crash, the next one sees the old version or the new one whole", async (t) => {
  for (const op of ["upgrade", "uninstall"] as const) {
    for (let last = 0;; last++) {
      const { home, ports, upgrade, dropped, look } = await store(t);
      const change: Change = op === "upgrade" ? upgrade : { op, plugin: "notes", old: ".old_1" };
      let steps = 0;
      const crash = <T>(run: () => Promise<T>): Promise<T> => {
        if (steps++ >= last) throw new Error("crash");
        return run();
      };
      const dying = {
        ...files,
        write: (...args: Parameters<typeof files.write>) => crash(() => files.write(...args)),
        rename: (...args: Parameters<typeof files.rename>) => crash(() => files.rename(...args)),
        remove: (...args: Parameters<typeof files.remove>) => crash(() => files.remove(...args)),
      };
      const outcome = await makeChange(change, { ...ports, files: dying }).then(() => "done", (error) => error.message);
      const begun = await isUnfinished(home, files);
      await recoverPackages(ports);
      const { tree, record } = await look();
      const happened = op === "upgrade" ? tree === "2" : tree === null;
      const [before, after] = [["1", "1"], op === "upgrade" ? ["2", "2"] : [null, null]];
      assert.deepEqual([tree, record], happened ? after : before, `step ${last}`);
      assert.ok(happened || (!begun && outcome === "crash"), `step ${last}`);
      assert.equal(dropped.length > 0, op === "uninstall" && happened);
      assert.equal(await isUnfinished(home, files), false);
      assert.deepEqual((await files.list(join(home, "plugins"))).filter((name) => name.startsWith(".")), []);
      if (outcome === "done") {
        assert.ok(last > 4, String(last));
        break;
      }
    }
  }
});

test("an upgrade that may be undone keeps the old tree as long as the process that could, and no longer", async (t) => {
  const { ports, upgrade, look } = await store(t);
  const kept = await keptName(ports);
  await makeChange({ ...upgrade, old: kept, keep: true } as Change, ports);
  await recoverPackages(ports);
  assert.deepEqual(await look(), { tree: "2", record: "2", names: [kept, "notes"] });
  await makeChange({ op: "install", plugin: "notes", staged: kept, old: ".old_2", record: { version: "1" } }, ports);
  assert.deepEqual(await look(), { tree: "1", record: "1", names: ["notes"] });
  await mkdir(join(ports.home, "plugins/.kept-4194999-old_1")); // No process has this id: it is above the kernel's limit.
  await recoverPackages(ports);
  assert.deepEqual((await look()).names, ["notes"]);
});

test("what a crash left is cleared away, and what somebody else keeps in the store is not", async (t) => {
  const { home, ports } = await store(t);
  await writeFile(join(home, "plugins/.note"), "mine");
  await recoverPackages(ports);
  assert.deepEqual(await files.list(join(home, "plugins")), [".note", "notes"]);
});

test("a local.toml that is half written, or cannot be changed in that one place, stops a change before it begins", async (t) => {
  for (
    const [text, code] of [
      ['[plugins.notes]\nversion = "1', "local.invalid"],
      ['[plugins]\nnotes = { version = "1" } # mine\n[[plugins.notes.more]]\n', "local.invalid"],
      ['plugins.notes.version = "1" # then\nplugins.notes.token = "s"\n', "local.edit_refused"],
    ] as const
  ) {
    const { home, ports, look } = await store(t);
    await writeFile(join(home, "local.toml"), text);
    const before = await look();
    const change = makeChange({ op: "uninstall", plugin: "notes", old: ".old_1" }, ports);
    await assert.rejects(change, { code }, text);
    assert.deepEqual(await look(), before);
    assert.equal(await isUnfinished(home, files), false);
    assert.equal(await readFile(join(home, "local.toml"), "utf8"), text);
  }
});

test("a local.toml that somebody half writes during a change is left alone, and the change waits for its repair", async (t) => {
  const { home, ports, upgrade, look } = await store(t);
  const file = join(home, "local.toml");
  const meddled = {
    ...files,
    async rename(from: string, to: string) {
      await files.rename(from, to);
      if (to.endsWith(".journal.json")) await writeFile(file, '[plugins.notes]\nversion = "1');
    },
  };
  await assert.rejects(makeChange(upgrade, { ...ports, files: meddled }), { code: "local.invalid" });
  assert.equal(await readFile(file, "utf8"), '[plugins.notes]\nversion = "1');
  await writeFile(file, '[plugins.notes]\nversion = "1"\n');
  await recoverPackages(ports);
  assert.deepEqual(await look(), { tree: "2", record: "2", names: ["notes"] });
});

test("a local.toml that is a link stays one, keeps its mode, and nobody else's change is lost", async (t) => {
  const home = await scratchDir(t);
  await writeFile(join(home, "real.toml"), "# mine\n", { mode: 0o640 });
  await symlink("real.toml", join(home, "local.toml"));
  await writeRecord(home, "notes", { files, ids, fields: { local: true } });
  assert.equal(await files.readLink(join(home, "local.toml")), "real.toml");
  assert.equal((await files.info(join(home, "real.toml")))?.mode, 0o640);
  const meddled = {
    ...files,
    async sync(path: string) {
      if (path.includes("real.toml.")) await writeFile(join(home, "real.toml"), "# theirs\n");
      await files.sync(path);
    },
  };
  const change = writeRecord(home, "notes", { files: meddled, ids, fields: { local: false } });
  await assert.rejects(change, { code: "local.edit_refused" });
  assert.equal(await readFile(join(home, "real.toml"), "utf8"), "# theirs\n");
  assert.deepEqual((await files.list(home)).sort(), ["local.toml", "real.toml"]);
});
