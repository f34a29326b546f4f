/**
 * Examples of agent frameworks as their readers run them: in a folder of their own, where `node_modules` has the host, the
 * reference plugin and the framework.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimeName } from "./require_or_skip.ts";
import { scratchDir } from "./scratch_dir.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** How a runtime is called for a program that reads files and starts processes. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  node: ["--disable-warning=ExperimentalWarning"],
  bun: ["--no-install"],
  deno: ["run", "-A", "--quiet", "--no-check"],
};

/** Runs `examples/frameworks/<name>/agent.ts` on the runtime of the test; resolves with what it printed. */
export async function runExample(t: { after(run: () => Promise<void>): void }, name: string): Promise<string> {
  const dir = await scratchDir(t);
  await cp(join(ROOT, "examples/frameworks", name), dir, { recursive: true });
  await writeFile(join(dir, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(dir, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  const modules = join(dir, "node_modules");
  await linkAll(join(ROOT, "tools/frameworks/node_modules"), modules);
  await mkdir(join(modules, "@kaged"));
  await symlink(ROOT, join(modules, "@kaged/plugin-host"));
  await symlink(join(ROOT, "plugins/memory-markdown"), join(modules, "@kaged/memory-markdown"));
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS[runtimeName]!, "agent.ts"], {
    cwd: dir,
    env: { PATH: process.env["PATH"], HOME: dir, KAGED_HOME: join(dir, "home"), NO_COLOR: "1" },
  });
  return stdout;
}

/** Links each package of a folder of packages; those of a scope one by one. */
async function linkAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of (await readdir(from)).filter((name) => !name.startsWith("."))) {
    if (name.startsWith("@")) await linkAll(join(from, name), join(to, name));
    else await symlink(join(from, name), join(to, name));
  }
}
