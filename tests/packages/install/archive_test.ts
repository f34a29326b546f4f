import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { obtain } from "../../../src/packages/install/obtain.ts";
import { parseSource } from "../../../src/packages/install/source.ts";
import { type InstallStage, installStage, manifestOf } from "./install_stage.ts";

const LIMITS = { maxBytes: 64 * 1024, maxEntries: 20 };
const LONG = `lib/${"a-rather-long-folder-name/".repeat(5)}${"file-".repeat(12)}.js`;
const FILES: Readonly<Record<string, string>> = {
  "kaged-plugin.yaml": manifestOf(),
  "index.js": "x".repeat(700),
  [LONG]: "deep\n",
};

/** Writes the plugin below `dir` and packs it with the system's tar. */
async function packed(stage: InstallStage, { format, root = "package", name = "plugin.tgz", files = FILES }: {
  readonly format: "gnu" | "ustar" | "pax";
  readonly root?: string;
  readonly name?: string;
  readonly files?: Readonly<Record<string, string>>;
}): Promise<string> {
  const dir = join(stage.root, `tree-${format}-${root}`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, root, path)), { recursive: true });
    await writeFile(join(dir, root, path), text, { mode: path === "index.js" ? 0o755 : 0o644 });
  }
  const archive = join(stage.root, name);
  const zip = name.endsWith(".tar") ? [] : ["-z"];
  execFileSync("tar", ["-c", ...zip, `--format=${format}`, "-f", archive, "-C", dir, root]);
  return archive;
}

/** One block of a tar archive, as nobody's tar would write it. */
function entry(
  name: string,
  { type = "0", content = "", link = "", claimed, sum = 0 }: {
    readonly type?: string;
    readonly content?: string;
    readonly link?: string;
    /** Size that the header names; the content's when left out. */
    readonly claimed?: number;
    /** By how much the checksum is wrong. */
    readonly sum?: number;
  } = {},
): Uint8Array {
  const header = new Uint8Array(512);
  const put = (at: number, text: string): void => header.set(strToU8(text), at);
  const octal = (value: number): string => `${value.toString(8).padStart(11, "0")}\0`;
  put(0, name);
  put(100, "0000644\0");
  put(124, octal(claimed ?? content.length));
  put(148, " ".repeat(8));
  put(156, type);
  put(157, link);
  put(257, "ustar\x0000");
  const total = header.reduce((all, byte) => all + byte, 0) + sum;
  put(148, `${total.toString(8).padStart(6, "0")}\0 `);
  const body = new Uint8Array(Math.ceil(content.length / 512) * 512);
  body.set(strToU8(content));
  return Buffer.concat([header, body]);
}

const tar = (...entries: Uint8Array[]): Uint8Array => Buffer.concat([...entries, new Uint8Array(1024)]);

/** Tries to unpack an archive; returns the code and message it is refused with, and checks that nothing stays. */
async function refusal(t: TestContext, bytes: Uint8Array, name = "x.tgz"): Promise<string> {
  const stage = await installStage(t, { limits: LIMITS });
  const archive = join(stage.root, name);
  await writeFile(archive, bytes);
  const error: HostError = await obtain(parseSource(archive), null, stage.ports).then(
    () => assert.fail("it was unpacked"),
    (error) => error,
  );
  assert.deepEqual(await readdir(join(stage.home, "run")), [], "what was unpacked is removed");
  return `${error.code}: ${error.message.replace(stage.root, "")} (${error.hint})`;
}

for (const format of ["gnu", "ustar", "pax"] as const) {
  test(`N-037 a plugin is installed from an archive of npm pack's layout, as tar writes it in ${format} format`, async (t) => {
    const stage = await installStage(t);
    const archive = await packed(stage, { format });
    const source = parseSource(archive);
    await using obtained = await obtain(source, null, stage.ports);
    const plan = await stage.plan(obtained.dir, { source });
    assert.deepEqual([plan.manifest.name, plan.source], ["oh-my-pi", { kind: "archive", path: archive }]);
    await stage.install(obtained.dir, {});
    const installed = join(stage.home, "plugins/oh-my-pi");
    for (const [path, text] of Object.entries(FILES)) {
      assert.equal(await readFile(join(installed, path), "utf8"), text, path);
    }
    assert.equal((await stat(join(installed, "index.js"))).mode & 0o777, 0o555);
    assert.equal((await stat(join(installed, LONG))).mode & 0o777, 0o444);
  });
}

test("N-037 a plain tar archive, and a zip archive whose root is the plugin, hold plugins too", async (t) => {
  const stage = await installStage(t);
  const zip = join(stage.root, "plugin.zip");
  await writeFile(zip, zipSync({ "kaged-plugin.yaml": strToU8(manifestOf()), "index.js": strToU8("1") }));
  for (const path of [await packed(stage, { format: "ustar", name: "plugin.tar" }), zip]) {
    await using obtained = await obtain(parseSource(path), null, stage.ports);
    assert.equal((await stage.plan(obtained.dir)).manifest.name, "oh-my-pi", path);
  }
});

test("a folder whose name ends like an archive's is a folder", async (t) => {
  const stage = await installStage(t);
  const dir = await stage.plugin("plugin.zip");
  await using obtained = await obtain(parseSource(dir), null, stage.ports);
  assert.equal(obtained.dir, dir);
});

test("what was unpacked goes when it is disposed of", async (t) => {
  const stage = await installStage(t);
  const archive = await packed(stage, { format: "ustar" });
  await (await obtain(parseSource(archive), null, stage.ports))[Symbol.asyncDispose]();
  assert.deepEqual(await readdir(join(stage.home, "run")), []);
});

test("an archive without a plugin, and one that is not there, are named in the error", async (t) => {
  const stage = await installStage(t);
  const archive = await packed(stage, { format: "ustar", files: { "README.md": "x" } });
  const source = parseSource(archive);
  await using obtained = await obtain(source, null, stage.ports);
  await assert.rejects(stage.plan(obtained.dir, { source }), {
    code: "manifest.missing",
    message: `The archive "${archive}" has no kaged-plugin.yaml at its root`,
  });
  await assert.rejects(obtain(parseSource("/no/such.tgz"), null, stage.ports), { code: "install.source_missing" });
});

test("an archive that leads out of its folder is refused, and nothing stays", async (t) => {
  for (const name of ["../x", "/etc/x", "a/../../x", "a//b", "c:/x", "a\\b"]) {
    assert.match(await refusal(t, gzipSync(tar(entry(name, { content: "x" })))), /leads out of the folder/, name);
  }
  const pax = entry("h", { type: "x", content: "14 path=../x1\n" });
  assert.match(await refusal(t, gzipSync(tar(pax, entry("y", { content: "x" })))), /"..\/x1" leads out of the folder/);
  const long = entry("h", { type: "L", content: "../x2\0" });
  assert.match(await refusal(t, gzipSync(tar(long, entry("y", { content: "x" })))), /"..\/x2" leads out of the folder/);
});

test("an archive with a link, a device or a name that stands there twice is refused", async (t) => {
  for (
    const [type, link] of [["1", "a"], ["2", "/etc/passwd"], ["2", "b"], ["3", ""], ["6", ""], ["K", "x"]] as const
  ) {
    const said = await refusal(t, gzipSync(tar(entry("bad", { type, link }))));
    assert.match(said, /^install\.archive_invalid: .*"bad" is a link or a special file .*install the folder/, type);
  }
  const twice = [entry("a/b", { content: "1" }), entry("A/B", { content: "2" })];
  assert.match(await refusal(t, gzipSync(tar(...twice))), /"A\/B" stands there twice/);
  const both = [entry("a", { content: "1" }), entry("a/b", { content: "2" })];
  assert.match(await refusal(t, gzipSync(tar(...both))), /"a" stands there twice/);
});

test("an archive that unfolds to more than it may, or to more files, is refused on the way", async (t) => {
  assert.match(
    await refusal(t, gzipSync(new Uint8Array(200 * 1024 * 1024))),
    /unpacks to more than 0 MB \(--max-size\)/,
  );
  const big = entry("big", { content: "x".repeat(LIMITS.maxBytes + 1) });
  assert.match(await refusal(t, gzipSync(tar(big))), /unpacks to more than/);
  const many = Array.from({ length: 21 }, (_, at) => entry(`f${at}`));
  assert.match(await refusal(t, gzipSync(tar(...many))), /holds more than 20 files \(--max-files\)/);
  assert.match(await refusal(t, gzipSync(tar(entry(`${"d/".repeat(25)}f`)))), /holds more than 20 files/);
});

test("an archive that is damaged, cut off or none at all is refused", async (t) => {
  const whole = gzipSync(tar(entry("a", { content: "x" })));
  assert.match(await refusal(t, whole.subarray(0, whole.length - 12)), /it is damaged/);
  assert.match(await refusal(t, gzipSync(tar(entry("a", { sum: 1 })))), /it is damaged/);
  assert.match(await refusal(t, gzipSync(tar(entry("a", { claimed: 9999 })))), /it is cut off/);
  assert.match(await refusal(t, gzipSync(tar(entry("h", { type: "x", content: "99 path=x\n" })))), /it is damaged/);
  assert.match(await refusal(t, strToU8("<html>not found</html>")), /neither a tar nor a zip archive/);
  assert.match(await refusal(t, strToU8("PK\x03\x04nothing"), "x.zip"), /no zip archive/);
});

test("a link to an archive is followed: the operator named it", async (t) => {
  const stage = await installStage(t);
  await symlink(await packed(stage, { format: "ustar" }), join(stage.root, "link.tgz"));
  await using obtained = await obtain(parseSource(join(stage.root, "link.tgz")), null, stage.ports);
  assert.equal((await stage.plan(obtained.dir)).manifest.name, "oh-my-pi");
});
