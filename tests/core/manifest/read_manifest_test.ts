import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readManifest as readOwn } from "../../../mod.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { DocumentIssue } from "../../../src/core/documents/document_report.ts";
import { MAX_MANIFEST_BYTES, parseManifest, readManifest } from "../../../src/core/manifest/read_manifest.ts";
import type { Files } from "../../../src/core/ports/ports.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { FILE, issuesOf, manifestText } from "./manifest_text.ts";

/** A file system that holds one file. */
function filesWith(path: string, content: string | Uint8Array, kind = "file"): Files {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const files: Pick<Files, "target" | "readHead"> = {
    target: (asked) => Promise.resolve(asked === path ? { kind, size: bytes.length } as never : null),
    readHead: (_, count) => Promise.resolve(bytes.slice(0, count)),
  };
  return files as Files;
}

async function failure(promise: Promise<unknown>): Promise<HostError> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof HostError) return thrown;
    throw thrown;
  }
  throw new assert.AssertionError({ message: "It did not fail" });
}

test("K-040 readManifest() reads kaged-plugin.yaml in the folder", async () => {
  const files = filesWith("/plugins/notes/kaged-plugin.yaml", manifestText());
  const { manifest, warnings } = await readManifest("/plugins/notes/", files);
  assert.deepEqual([manifest.name, warnings], ["notes", []]);
});

test("readManifest() says when there is no manifest, or none it can read", async () => {
  const missing = await failure(readManifest("/plugins/notes", filesWith("/elsewhere", "")));
  assert.deepEqual([missing.code, missing.message], [
    "manifest.missing",
    'No manifest at "/plugins/notes/kaged-plugin.yaml"',
  ]);
  const folder = filesWith("/plugins/notes/kaged-plugin.yaml", "", "directory");
  assert.equal((await failure(readManifest("/plugins/notes", folder))).code, "manifest.unreadable");
  const denied = { target: () => Promise.reject(new Error("EACCES: permission denied")) } as unknown as Files;
  const unreadable = await failure(readManifest("/plugins/notes", denied));
  assert.deepEqual([unreadable.code, unreadable.message], [
    "manifest.unreadable",
    'Cannot read "/plugins/notes/kaged-plugin.yaml": EACCES: permission denied',
  ]);
});

test("readManifest() reads no more than 256 KiB of UTF-8", async () => {
  const path = "/p/kaged-plugin.yaml";
  const fill = (size: number) => manifestText().padEnd(size - 1, " ") + "\n";
  assert.equal((await readManifest("/p", filesWith(path, fill(MAX_MANIFEST_BYTES)))).manifest.name, "notes");
  const refused: [string | Uint8Array, string][] = [
    [fill(MAX_MANIFEST_BYTES + 1), "too_large"],
    ["é".repeat(MAX_MANIFEST_BYTES), "too_large"],
    [new Uint8Array([0xff]), "not_utf8"],
  ];
  for (const [content, code] of refused) {
    const error = await failure(readManifest("/p", filesWith(path, content)));
    const { issues } = error.data as { issues: DocumentIssue[] };
    assert.deepEqual(issues.map(({ code, file, line, column }) => [code, file, line, column]), [
      [`manifest.${code}`, path, 1, 1],
    ]);
  }
  const bytes = new TextEncoder().encode(`\ufeff${manifestText()}`);
  assert.equal((await readManifest("/p", filesWith(path, bytes))).manifest.name, "notes");
  const wide = "é".repeat(MAX_MANIFEST_BYTES / 2);
  assert.deepEqual((await issuesOf(wide + "e")).map(({ code }) => code), ["manifest.too_large"]);
});

test("manifest.invalid names the count and the first place, and carries every issue", async () => {
  const text = manifestText("hooks: [nope]\ncolour: red", { name: "Notes" });
  const error = await failure(parseManifest(text, { file: FILE }));
  assert.deepEqual([error.code, error.hint], ["manifest.invalid", "Use a name such as memory-markdown"]);
  assert.equal(
    error.message,
    "Manifest has 3 issues, first at kaged-plugin.yaml:1:7: " +
      'The name does not fit ^[a-z][a-z0-9-]*$ with at most 64 characters: "Notes"',
  );
  const { issues, total } = error.data as { issues: DocumentIssue[]; total: number };
  assert.equal(total, 3);
  assert.deepEqual(issues[2], {
    code: "manifest.unknown_key",
    message: 'Unknown key "colour"',
    file: FILE,
    line: 8,
    column: 1,
    path: "colour",
    hint: issues[2]!.hint!,
  });
  assert.deepEqual(JSON.parse(JSON.stringify(issues)), issues);
});

test("a manifest with very many issues lists the first hundred and counts the rest", async () => {
  const text = manifestText(`methods: [${Array(500).fill("x").join(", ")}]`);
  const error = await failure(parseManifest(text, { file: FILE }));
  const { issues, total } = error.data as { issues: DocumentIssue[]; total: number };
  assert.deepEqual([issues.length, total], [100, 500]);
  assert.match(error.message, /^Manifest has 500 issues, first at kaged-plugin.yaml:7:11: /);
});

test("an issue has its code, path, message and hint, and no character of the file that could move the cursor", async () => {
  const issues = await issuesOf(manifestText("hooks: [on_sesion_start]\n", { name: '"\\e[31m"' }));
  const place = { file: FILE, line: 1, column: 7 };
  assert.deepEqual(issues, [
    {
      code: "manifest.invalid_name",
      message: 'The name does not fit ^[a-z][a-z0-9-]*$ with at most 64 characters: "\\u001b[31m"',
      ...place,
      path: "name",
      hint: "Use a name such as memory-markdown",
    },
    {
      code: "manifest.unknown_hook",
      message: 'A hook is not known: "on_sesion_start"',
      ...place,
      line: 7,
      column: 9,
      path: "hooks[0]",
      hint: 'Did you mean "on_session_start"?',
    },
  ]);
});

test("K-040 readManifest() of the entry reads from the runtime's own file system", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "kaged-plugin.yaml"), manifestText());
  assert.equal((await readOwn(dir)).manifest.name, "notes");
});
