/**
 * What importing the package costs: memory and time over an empty program, with the files that npm gets.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeCommand } from "./runtimes.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** The least of several imports, over a program that imports nothing. */
export interface ImportCost {
  /** Memory. */
  readonly mebibytes: number;
  /** Time. */
  readonly ms: number;
  /** Memory that the import of an empty module takes: what is the runtime's own of the above. */
  readonly emptyModule: number;
  /** Memory with a host of an empty project made, which loads what the import left for later. */
  readonly withHost: number;
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
    writeFileSync(join(dir, "nothing.mjs"), "export {};\n");
    writeFileSync(join(dir, "project.yaml"), "id: empty\nprimary: {}\n");
    const places = JSON.stringify({ project: dir, home: join(dir, "home") });
    const programs = {
      empty: program("empty.mjs", "globalThis.host = {};"),
      control: program("control.mjs", 'globalThis.host = await import("./nothing.mjs");'),
      whole: program("import.mjs", 'globalThis.host = await import("@kaged/plugin-host");'),
      host: program(
        "host.mjs",
        `globalThis.host = await (await import("@kaged/plugin-host")).createHost(${places});`,
      ),
    };
    const figures = runtimes.map((runtime): [string, ImportCost] => {
      const [empty, control, whole, host] = Object.values(programs).map((path) => least(runtime, path, rounds));
      const over = ({ rss }: Least): number => Math.max(0, rss - empty!.rss) / 1024 ** 2;
      const cost = { mebibytes: over(whole!), ms: whole!.ms, emptyModule: over(control!), withHost: over(host!) };
      return [runtime.name, cost];
    });
    return new Map(figures);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Makes a project that has the package, as npm would lay it out. */
function install(dir: string): void {
  const { name } = JSON.parse(readFileSync(join(checkout, "npm/package/package.json"), "utf8"));
  writeFileSync(join(dir, "package.json"), JSON.stringify({ type: "module", dependencies: { [name]: "*" } }));
  cpSync(join(checkout, "npm/package"), join(dir, "node_modules", name), { recursive: true });
}

interface Least {
  readonly rss: number;
  readonly ms: number;
}

function least({ file, args }: RuntimeCommand, program: string, rounds: number): Least {
  const all = Array.from({ length: rounds }, () => {
    return execFileSync(file, [...args, program], { encoding: "utf8" }).split(" ").map(Number);
  });
  return { rss: Math.min(...all.map(([rss]) => rss!)), ms: Math.min(...all.map(([, ms]) => ms!)) };
}
