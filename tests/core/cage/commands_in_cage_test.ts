import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { CageRequest } from "../../../src/core/cage/cage.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import { cagedBash, placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;

/** Places for one test, with a shell outside of the system's folders, or null when this machine cannot cage. */
async function ground(t: TestContext) {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return null;
  await files.makeDir(`${dir}/opt/bin`, { recursive: true });
  await copyFile("/bin/bash", `${dir}/opt/bin/own-shell`);
  const script = (name: string, text: string): Promise<void> =>
    files.write(`${places.installDir}/${name}`, text, 0o755);
  return { places, script, runtimes: { "own-shell": `${dir}/opt/bin/own-shell` } };
}

async function outputOf(request: CageRequest): Promise<string> {
  const caged = await startCaged(request);
  caged.child.endInput();
  const { exit, out, err, failure } = await caged.end();
  assert.deepEqual([exit.code, err, failure], [0, "", null]);
  return out;
}

test("an interpreter outside /usr that the operator named runs by its name, through env and in a first line", async (t) => {
  const at = await ground(t);
  if (!at) return;
  const { places, script, runtimes } = at;
  await script("run", "#!/usr/bin/env own-shell\necho $BASH");
  for (
    const command of [["own-shell", "-c", "echo $BASH"], ["/usr/bin/env", "own-shell", "-c", "echo $BASH"], ["./run"]]
  ) {
    const request = { ...requestOf({ command }, places), runtimes };
    assert.equal(await outputOf(request), "/usr/bin/own-shell\n", command.join(" "));
    assert.equal(
      await outputOf({ ...request, manifest: { ...request.manifest, capabilities: ["net:a.example:1"] } }),
      "/usr/bin/own-shell\n",
    );
  }
});

test("scripts that start each other run in a cage, and no program of theirs but those they name", async (t) => {
  const at = await ground(t);
  if (!at) return;
  const { places, script, runtimes } = at;
  const { installDir } = places;
  await script("outer", `#!${installDir}/inner one\nthird line`);
  await script("inner", '#!/usr/bin/env own-shell\necho "$@"; echo /usr/bin/*');
  const out = await outputOf({ ...requestOf({ command: ["./outer", "two"] }, places), runtimes });
  assert.equal(out, `one ./outer two\n/usr/bin/env /usr/bin/own-shell\n`.replace("./outer", `${installDir}/outer`));
});

test("K-043 a granted program runs, one that was not granted does not exist, whatever PATH says", async (t) => {
  const at = await ground(t);
  if (!at) return;
  const script = "seq 1; type -P seq wc; /usr/bin/wc </dev/null; /bin/wc </dev/null; echo $?";
  const { out } = await cagedBash(script, { capabilities: ["exec:seq:plugin:/"] }, at.places);
  assert.equal(out, "1\n/usr/bin/seq\n127\n");
});
