/**
 * What importing the package costs: memory and time over an empty program, with the files that npm gets.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeCommand } from "./runtimes.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** The least of several imports. */
export interface ImportCost {
  readonly mebibytes: number;
  readonly ms: number;
}

/** Measures the import of `.` on each runtime, the least of `rounds`. Each is a new process. */
export function measureImport(runtimes: readonly RuntimeCommand[], rounds: number): Map<string, ImportCost> {
  execFileSync(process.execPath, ["scripts/build_npm.ts"], { cwd: checkout, stdio: ["ignore", "ignore", "inherit"] });
  const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
  try {
    const program = (name: string, imported: string): string => {
      const print = "console.log(process.memoryUsage().rss, performance.now() - start);";
      const text = `import process from "node:process";\nconst start = performance.now();\n${imported}\n${print}\n`;
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    };
    install(dir);
    const empty = program("empty.mjs", "globalThis.host = {};");
    const whole = program("import.mjs", 'globalThis.host = await import("@kaged/plugin-host");');
    const figures = runtimes.map((runtime): [string, ImportCost] => {
      const [before, after] = [least(runtime, empty, rounds), least(runtime, whole, rounds)];
      return [runtime.name, { mebibytes: Math.max(0, after.rss - before.rss) / 1024 ** 2, ms: after.ms }];
    });
    return new Map(figures);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Makes a project that has the package, as npm would lay it out. */
function install(dir: string): void {
  const { name, dependencies } = JSON.parse(readFileSync(join(checkout, "npm/package/package.json"), "utf8"));
  writeFileSync(join(dir, "package.json"), JSON.stringify({ type: "module", dependencies: { [name]: "*" } }));
  cpSync(join(checkout, "npm/package"), join(dir, "node_modules", name), { recursive: true });
  for (const each of Object.keys(dependencies)) {
    mkdirSync(dirname(join(dir, "node_modules", each)), { recursive: true });
    symlinkSync(join(checkout, "node_modules", each), join(dir, "node_modules", each));
  }
}

function least({ file, args }: RuntimeCommand, program: string, rounds: number): { rss: number; ms: number } {
  const all = Array.from({ length: rounds }, () => {
    return execFileSync(file, [...args, program], { encoding: "utf8" }).split(" ").map(Number);
  });
  return { rss: Math.min(...all.map(([rss]) => rss!)), ms: Math.min(...all.map(([, ms]) => ms!)) };
}
