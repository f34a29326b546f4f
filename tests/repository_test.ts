import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { root } from "./support/sources.ts";

const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");

/** Tests with programs as text, whose imports are nobody's here. */
const WITH_PROGRAMS = [
  "tests/operator/check/import_specifiers_test.ts",
  "tests/package/npm_bundles_test.ts",
  "tests/package/support/notes_project.ts",
];
/** Folders that a checkout does not have, or that hold what others wrote. */
const FOREIGN = /^(?:(?:.*\/)?node_modules|npm|\.git|\.scratch|\.kaged|coverage|docs\/api|tests\/corpora)(?:\/|$)/;

async function textFiles(folder = "."): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const found = await Promise.all(entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (FOREIGN.test(path)) return [];
    if (entry.isDirectory()) return await textFiles(path);
    return entry.isFile() && /\.(?:ts|js|md|json|ya?ml|toml|py|go|sh|svg|tsv|css|html)$|\/run$/.test(path)
      ? [path]
      : [];
  }));
  return found.flat();
}

test("no file names the host of a package registry: where packages come from is the machine's to say", async () => {
  const hosts = new RegExp(["registry\\.npmjs", "npmjs\\.(?:com|org)", "jsr\\.io", "registry\\.yarnpkg"].join("|"));
  const files = await textFiles();
  assert.ok(files.length > 1000, `${files.length} files`);
  const naming = await Promise.all(files.map(async (path) => hosts.test(await read(path)) ? [path] : []));
  assert.deepEqual(naming.flat().filter((path) => path !== "tests/repository_test.ts"), []);
});

test("the workflow of every change only checks out, sets up Node and calls .ci/run", async () => {
  const { jobs } = parse(await read(".github/workflows/ci.yml"));
  const steps = Object.values<{ steps: { uses?: string; run?: string }[] }>(jobs).flatMap((job) => job.steps);
  assert.deepEqual(steps.map(({ uses, run }) => uses?.replace(/@.*/, "") ?? run), [
    "actions/checkout",
    "actions/setup-node",
    ".ci/run",
  ]);
  assert.ok((await stat(join(root, ".ci/run"))).mode & 0o100, ".ci/run can be executed");
});

test("issue and change templates are there, and lead holes to SECURITY.md", async () => {
  for (const name of ["bug", "idea"]) {
    assert.ok(parse(await read(`.github/ISSUE_TEMPLATE/${name}.yml`)).body.length > 2);
  }
  assert.match(await read(".github/ISSUE_TEMPLATE/bug.yml"), /SECURITY\.md/);
  assert.match(await read(".github/pull_request_template.md"), /npm run gate/);
});

test("every package that sources, tests and benchmarks import is declared", async () => {
  const { name, dependencies, devDependencies } = JSON.parse(await read("package.json"));
  const declared = new Set([name, ...Object.keys(dependencies), ...Object.keys(devDependencies)]);
  const files = (await textFiles()).filter((path) =>
    /^(?:src|tests|bench|scripts|console|mod\.ts)/.test(path) && !WITH_PROGRAMS.includes(path)
  );
  const missing = new Set<string>();
  for (const path of files.filter((each) => each.endsWith(".ts") && !each.includes("/generated/"))) {
    for (
      const [, early, late] of (await read(path)).matchAll(
        /^(?:import|export) (?:[^;"]*? from )?"([^"]+)";|^[^"'`/*]*\bimport\("([^"]+)"\)/gm,
      )
    ) {
      const [, wanted] = /^((?:@[^/]+\/)?[^./:][^/:]*)(?:\/[^:]*)?$/.exec((early ?? late)!) ?? [];
      if (wanted !== undefined && !declared.has(wanted)) missing.add(`${wanted} (${path})`);
    }
  }
  assert.deepEqual([...missing], []);
});
