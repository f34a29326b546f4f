import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { strToU8, type ZipAttributes, zipSync } from "fflate";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { openBundle } from "../../../src/operator/mcp_add/bundle.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const LIMITS = { maxBytes: 1024 * 1024, maxEntries: 50 };
const MANIFEST = {
  manifest_version: "0.3",
  name: "notes",
  version: "1.2.3",
  description: "Notes of a team",
  author: { name: "Ada" },
  license: "MIT",
  server: {
    type: "node",
    entry_point: "server/index.js",
    mcp_config: {
      command: "node",
      args: ["${__dirname}/server/index.js", "${user_config.dir}"],
      env: { NOTES_KEY: "${user_config.key}" },
      platform_overrides: { win32: { command: "x.exe" } },
    },
  },
  user_config: {
    key: { type: "string", title: "Key", description: "Key of the service", sensitive: true, required: true },
    dir: { type: "directory", title: "Folder", default: ["/tmp/notes"] },
  },
};

type Entries = Record<string, [Uint8Array, ZipAttributes & { level?: 0 | 9 }]>;

const file = (
  text: string,
  mode = 0o644,
): Entries[string] => [strToU8(text), { os: 3, attrs: (0o100000 | mode) * 65536 }];

/** Unpacks an archive; returns the folder and the bundle. */
async function open(t: TestContext, archive: Uint8Array, limits = LIMITS) {
  const dir = await scratchDir(t);
  await mkdir(join(dir, "out"));
  await writeFile(join(dir, "x.mcpb"), archive);
  const bundle = openBundle(join(dir, "x.mcpb"), join(dir, "out"), { runtime: await detectRuntime(), limits });
  return { dir, out: join(dir, "out"), bundle };
}

const zipped = (entries: Entries): Uint8Array =>
  zipSync({ "manifest.json": file(JSON.stringify(MANIFEST)), ...entries });

test("N-031 a bundle is unpacked with its programs, and its manifest says command, settings and secrets", async (t) => {
  const archive = zipped({ "server/index.js": file("x".repeat(5000)), "server/run": file("#!/bin/sh", 0o755) });
  const { out, bundle } = await open(t, archive);
  const { facts, command, env, asked } = await bundle;
  assert.deepEqual(facts, {
    title: "notes",
    version: "1.2.3",
    description: "Notes of a team",
    author: "Ada",
    license: "MIT",
  });
  assert.deepEqual(command, ["node", "${__dirname}/server/index.js", "${user_config.dir}"]);
  assert.deepEqual(env, { NOTES_KEY: "${user_config.key}" });
  assert.deepEqual(asked, {
    "user_config.key": { description: "Key of the service", isSecret: true, isRequired: true, fallback: null },
    "user_config.dir": { description: "Folder", isSecret: false, isRequired: false, fallback: "/tmp/notes" },
  });
  assert.equal((await readFile(join(out, "server/index.js"))).length, 5000);
  assert.equal((await stat(join(out, "server/run"))).mode & 0o111, 0o111);
});

test("a bundle with a signature behind its end is read", async (t) => {
  const archive = zipped({ "server/index.js": file("x") });
  const signed = new Uint8Array(archive.length + 3000);
  signed.set(archive);
  signed.set(strToU8("MCPB_SIG_V1"), archive.length);
  assert.equal((await (await open(t, signed)).bundle).facts.title, "notes");
});

test("N-031 a hostile bundle is refused before anything of it is written", async (t) => {
  const bomb = zipSync({ "a": [new Uint8Array(2 * 1024 * 1024), { level: 9 }] });
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, file("")]));
  const link: Entries[string] = [strToU8("/etc/passwd"), { os: 3, attrs: 0o120777 * 65536 }];
  const cases: [string, Uint8Array, RegExp][] = [
    ["slip", zipSync({ "../../evil": file("x") }), /leads out of the folder/],
    ["slip within", zipSync({ "a/../../evil": file("x") }), /leads out of the folder/],
    ["absolute", zipSync({ "/etc/evil": file("x") }), /leads out of the folder/],
    ["backslash", zipSync({ "..\\evil": file("x") }), /leads out of the folder/],
    ["drive", zipSync({ "C:/evil": file("x") }), /leads out of the folder/],
    ["link", zipped({ "passwd": link }), /is a link/],
    ["bomb", bomb, /more than 1 MB \(--max-size\)/],
    ["many", zipSync(many), /more than 50 files \(--max-files\)/],
    ["no zip", strToU8("hello, this is no archive at all"), /no zip archive/],
    ["empty", new Uint8Array(0), /no zip archive/],
    ["no manifest", zipSync({ "a": file("x") }), /no manifest\.json/],
    ["bent manifest", zipSync({ "manifest.json": file("{") }), /no manifest\.json/],
  ];
  for (const [what, archive, message] of cases) {
    const { dir, out, bundle } = await open(t, archive);
    await assert.rejects(bundle, { code: "mcp_add.bundle_invalid", message }, what);
    const left = (await readdir(out)).filter((name) => !["a", "manifest.json"].includes(name));
    assert.deepEqual([left, (await readdir(dir)).sort()], [[], ["out", "x.mcpb"]], what);
  }
});

test("N-031 a file that unfolds to more than the list of the archive claims is refused", async (t) => {
  const archive = zipSync({ "manifest.json": [strToU8(JSON.stringify(MANIFEST).repeat(3)), { level: 9 }] });
  const view = new DataView(archive.buffer);
  const central = archive.findLastIndex((_, at) => at + 4 <= archive.length && view.getUint32(at, true) === 0x02014b50);
  for (const claimed of [10, 100_000]) {
    view.setUint32(central + 24, claimed, true);
    await assert.rejects((await open(t, archive)).bundle, {
      code: "mcp_add.bundle_invalid",
      message: /not of the size/,
    });
  }
});

test("an archive whose list or content is cut off is refused, wherever it ends", async (t) => {
  const archive = zipped({ "server/index.js": file("y".repeat(300)) });
  const view = new DataView(archive.buffer);
  const end = archive.findLastIndex((_, at) => at + 4 <= archive.length && view.getUint32(at, true) === 0x06054b50);
  const offset = view.getUint32(end + 16, true);
  for (const wrong of [0, offset + 1, archive.length - 1, 0xfffffff0]) {
    view.setUint32(end + 16, wrong, true);
    await assert.rejects((await open(t, archive)).bundle, { code: "mcp_add.bundle_invalid" }, `${wrong}`);
  }
});

test("N-031 a bundle that starts something else than its own files is refused with the reason", async (t) => {
  const withServer = (server: unknown) => zipSync({ "manifest.json": file(JSON.stringify({ ...MANIFEST, server })) });
  const uv = await open(t, withServer({ type: "uv", entry_point: "main.py" }));
  await assert.rejects(uv.bundle, { code: "mcp_add.entry_refused", message: /uv fetches/ });
  const npx = await open(t, withServer({ type: "node", mcp_config: { command: "npx", args: ["x"] } }));
  await assert.rejects(npx.bundle, { code: "mcp_add.entry_refused", message: /starts npx/ });
});

test("N-031 a bundle cannot have variables of the operator's environment handed to its server", async (t) => {
  const { server } = MANIFEST;
  for (const text of ["${AWS_PROFILE}", "${env:AWS_PROFILE}", "${user_config.AWS_PROFILE}", "${HOME:-x}"]) {
    const places = [{ args: [`--x=${text}`] }, { env: { GITHUB_TOKEN: text } }, {
      platform_overrides: { linux: { env: { GITHUB_TOKEN: text } } },
    }];
    for (const place of places) {
      const manifest = { ...MANIFEST, server: { ...server, mcp_config: { ...server.mcp_config, ...place } } };
      const { bundle } = await open(t, zipSync({ "manifest.json": file(JSON.stringify(manifest)) }));
      await assert.rejects(
        bundle,
        { code: "mcp_add.bundle_invalid", message: /refers to "\$\{/ },
        JSON.stringify(place),
      );
    }
  }
});
