/**
 * A host on Deno with the permissions that the guide lists, and with each of them left out.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { processesIn } from "../support/processes_in.ts";
import { runtimeName } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const root = new URL("../../", import.meta.url);
const at = (path: string): string => fileURLToPath(new URL(path, root));
/** Deno alone has permissions. */
const onDeno = runtimeName === "deno" ? test : () => {};

interface Place {
  readonly home: string;
  /** The flags that a host with this home needs. */
  readonly flags: readonly string[];
  /** Runs the host with `flags` and returns what it printed. */
  run(flags: readonly string[]): Promise<Record<string, unknown>>;
}

async function place(t: TestContext): Promise<Place> {
  const [home, project] = [await scratchDir(t), await scratchDir(t)];
  await writeFile(join(project, "project.yaml"), "id: music\nprimary: { plugins: { notes: { package: notes } } }\n");
  const notes = at("examples/plugins/notes");
  return {
    home,
    flags: ["--allow-run", "--allow-env", "--allow-sys=uid,statfs", "--allow-read", `--allow-write=${home}`],
    async run(flags) {
      const how = ["run", "--no-prompt", "--quiet", "--no-check", "--config", at("deno.json"), ...flags];
      const words = [process.execPath, ...how, at("tests/host/fixtures/few_permissions.ts"), home, project, notes];
      // In a variable: Deno adds -A to a command line without permissions that starts Deno, also inside a script.
      const env = { ...process.env, COMMAND: words.map((word) => `'${word}'`).join(" ") };
      const { stdout } = await promisify(execFile)("/bin/sh", ["-c", 'eval "$COMMAND"'], { env });
      return JSON.parse(stdout) as Record<string, unknown>;
    },
  };
}

onDeno(
  "N-019 a Deno host with the listed permissions runs a caged plugin, a tool, storage and its audit",
  async (t) => {
    const { home, flags, run } = await place(t);
    const { running, output, failed, warnings } = await run([...flags, "--allow-net"]);
    assert.deepEqual({ running, failed, output, warnings }, {
      running: ["notes@music/primary"],
      failed: [],
      output: { count: 1 },
      warnings: [],
    });
    const audit = (await readFile(join(home, "audit/music.jsonl"), "utf8")).trimEnd().split("\n").map((line) =>
      JSON.parse(line).type
    );
    for (const type of ["plugin.spawned", "plugin.initialized", "plugin.stopped"]) {
      assert.ok(
        audit.includes(type),
        type,
      );
    }
    assert.deepEqual(await processesIn(at("examples/plugins/notes")), []);
  },
);

onDeno("a Deno host without --allow-net runs its plugins, and warns that no command reaches it", async (t) => {
  const { flags, run } = await place(t);
  const { output, warnings } = await run(flags);
  assert.deepEqual(output, { count: 1 });
  assert.match(String(warnings), /^Commands cannot reach this host: Requires net access .*--allow-net/);
});

onDeno("a Deno host that lacks permissions is refused with cage.no_permission, which names each of them", async (t) => {
  const { flags, run } = await place(t);
  for (const missing of flags) {
    const { code, missing: named, message } = await run(flags.filter((flag) => flag !== missing));
    assert.deepEqual([code, named], ["cage.no_permission", [missing]]);
    assert.equal(message, `Cannot cage plugins without ${missing}`);
  }
  assert.deepEqual((await run([])).missing, flags);
});

onDeno("a folder that --allow-read leaves out fails the plugin's start with cage.no_permission", async (t) => {
  const { home, flags, run } = await place(t);
  const narrow = `--allow-read=/usr,/tmp,${home},${at(".")}`;
  const { running, failed } = await run(flags.map((flag) => flag === "--allow-read" ? narrow : flag));
  assert.deepEqual(running, []);
  assert.match(String(failed), /^cage\.no_permission,Cannot start "notes": Requires read access to "\/bin\/bash"/);
});

test("the guide lists the permissions that a Deno host is tested with", async (t) => {
  const guide = await readFile(at("docs/embed-deno.md"), "utf8");
  for (const flag of (await place(t)).flags) assert.ok(guide.includes(`\`${flag.split("=")[0]}`), flag);
});
