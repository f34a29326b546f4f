/**
 * Memory that importing the package takes over an empty program, on the JavaScript it is published as.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RuntimeCommand } from "./runtimes.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));
const PRINT_RSS = 'import process from "node:process";\nconsole.log(process.memoryUsage().rss);\n';

/** Measures MiB per runtime, the least of `rounds`. */
export function measureImport(runtimes: readonly RuntimeCommand[], bun: string, rounds: number): Map<string, number> {
  const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
  try {
    const build = ["build", join(checkout, "mod.ts"), "--target=node", "--splitting", "--packages=external"];
    execFileSync(bun, [...build, `--outdir=${dir}`], { stdio: ["ignore", "ignore", "inherit"] });
    symlinkSync(join(checkout, "node_modules"), join(dir, "node_modules"));
    writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
    writeFileSync(join(dir, "empty.js"), PRINT_RSS);
    writeFileSync(join(dir, "import.js"), `import * as host from "./mod.js";\nglobalThis.host = host;\n${PRINT_RSS}`);
    const rss = ({ file, args }: RuntimeCommand, program: string): number => {
      const all = Array.from({ length: rounds }, () => execFileSync(file, [...args, join(dir, program)]));
      return Math.min(...all.map((text) => Number(text.toString())));
    };
    const figures = runtimes.map((runtime): [string, number] => {
      return [runtime.name, Math.max(0, rss(runtime, "import.js") - rss(runtime, "empty.js")) / 1024 ** 2];
    });
    return new Map(figures);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
