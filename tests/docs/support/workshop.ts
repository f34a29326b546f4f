/**
 * A folder in which the commands and programs of a guide run: a home of its own, `bin/kaged`, and copies of the
 * repository's examples and plugins; `my-project` is a project without plugins.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { compiledCode } from "../../support/compiled_code.ts";
import { kagedCommand, runKaged } from "../../support/run_kaged.ts";
import { runtimeName } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { piecesOf } from "./plain_commands.ts";

const root: string = fileURLToPath(new URL("../../../", import.meta.url));
const LIMIT_MS = 90_000;

/** How a command or program ended. */
export interface Ran {
  readonly code: number | null;
  /** Stdout and stderr as a terminal shows them. */
  readonly output: string;
}

/** A folder for one guide. */
export interface Workshop {
  readonly dir: string;
  /** Writes a file below the folder. */
  write(path: string, text: string): Promise<void>;
  /** Runs a bash script, plain `kaged` commands inside the test; with `until` it is interrupted once it printed that. */
  script(text: string, options?: { readonly until?: string }): Promise<Ran>;
  /** Runs a TypeScript or JavaScript program on the runtime of the test. */
  program(file: string, options?: { readonly until?: string }): Promise<Ran>;
}

/** Makes the folder, which goes away with the test. `copies` says which folders of the repository it is to hold. */
export async function openWorkshop(
  t: { after(run: () => Promise<void>): void },
  { copies }: { readonly copies: (folder: string) => boolean },
): Promise<Workshop> {
  const scratch = await scratchDir(t);
  const dir = join(scratch, "work");
  await mkdir(dir);
  for (const folder of ["examples", "plugins", "hookspec"].filter(copies)) {
    await cp(join(root, folder), join(dir, folder), { recursive: true });
  }
  for (const folder of ["bin", "my-project"]) await mkdir(join(dir, folder));
  await writeFile(join(dir, "my-project/project.yaml"), "primary: {}\n");
  await mkdir(join(scratch, "home"));
  const { command, args } = kagedCommand([]);
  await writeFile(join(dir, "bin/kaged"), `#!/bin/sh\nexec ${[command, ...args].map(quoted).join(" ")} "$@"\n`);
  await chmod(join(dir, "bin/kaged"), 0o755);
  const env = {
    PATH: `${join(dir, "bin")}:${join(root, "node_modules/.bin")}:/usr/local/bin:/usr/bin:/bin`,
    HOME: join(scratch, "home"),
    NO_COLOR: "1",
    ...compiledCode,
    COLUMNS: "120",
  };
  const here = async (args: readonly string[]): Promise<Ran> => {
    let output = "";
    const { code } = await runKaged(args, { cwd: dir, env, onPrint: (text) => output += text });
    return { code, output };
  };
  const run = (command: string, args: readonly string[], until?: string) =>
    ran(command, args, { cwd: dir, env, until });
  return {
    dir,
    async write(path, text) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    },
    async script(text, { until } = {}) {
      if (until !== undefined) return await run("/bin/bash", ["-ec", text], until);
      let [code, output]: [number | null, string] = [0, ""];
      for (const piece of piecesOf(text)) {
        const ended = "shell" in piece ? await run("/bin/bash", ["-ec", piece.shell]) : await here(piece.kaged);
        output += ended.output;
        if ((code = ended.code) !== 0) break; // As the shell's own -e does.
      }
      return { code, output };
    },
    program: (file, { until } = {}) => run(process.execPath, [...PREFIX[runtimeName]!, file], until),
  };
}

const PREFIX: Readonly<Record<string, readonly string[]>> = {
  node: ["--disable-warning=ExperimentalWarning"],
  deno: ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", join(root, "deno.json")],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
};

interface RunOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly until: string | undefined;
}

async function ran(command: string, args: readonly string[], { cwd, env, until }: RunOptions): Promise<Ran> {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const signal = (name: "SIGINT" | "SIGKILL") => {
    try {
      process.kill(-child.pid!, name); // Its whole group: bash and what it runs.
    } catch { /* It has ended. */ }
  };
  let output = "";
  const decoders = [new TextDecoder(), new TextDecoder()];
  [child.stdout, child.stderr].forEach((stream, n) =>
    stream.on("data", (chunk: Uint8Array) => {
      output += decoders[n]!.decode(chunk, { stream: true });
      if (until !== undefined && output.includes(until)) signal("SIGINT");
    })
  );
  const limit = setTimeout(() => {
    output += `\n(stopped: it did not end within ${LIMIT_MS / 1000} s)`;
    signal("SIGKILL");
  }, LIMIT_MS);
  const [code] = await once(child, "close") as [number | null];
  clearTimeout(limit);
  return { code, output };
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
