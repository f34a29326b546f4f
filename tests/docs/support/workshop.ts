/**
 * A folder in which the commands and programs of a guide run: a home of its own, `bin/kaged`, and copies of the
 * repository's examples and plugins; `my-project` is a project without plugins.
 *
 * @module
 */
import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { compiledCode } from "../../support/compiled_code.ts";
import { kagedCommand, runKaged } from "../../support/run_kaged.ts";
import { runtimeName } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { type Child, type Ran, startChild } from "./child.ts";
import { piecesOf } from "./plain_commands.ts";

const root: string = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder for one guide. */
export interface Workshop {
  readonly dir: string;
  /** Writes a file below the folder. */
  write(path: string, text: string): Promise<void>;
  /** Runs a bash script, plain `kaged` commands inside the test; with `until` it is interrupted once it printed that. */
  script(text: string, options?: { readonly until?: string }): Promise<Ran>;
  /** Starts a script that stays until the test ends, or another is to stay; resolves once it has printed `ready`. */
  stay(text: string, ready: string): Promise<void>;
  /** Returns the output of the script that stays, after `ready`, once it has printed `text` from now on. */
  printed(text: string): Promise<string>;
  /** Ends what stays. */
  close(): Promise<void>;
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
  let stays: { readonly child: Child; readonly from: number } | null = null;
  const end = async (): Promise<void> => {
    stays?.child.signal("SIGINT");
    await stays?.child.ended;
    stays = null;
  };
  /** The port a reader has may be taken here: servers get any that is free, and what the guide asks goes there. */
  const placed = (given: string): string => {
    const text = given.replaceAll(/^((?:bin\/)?kaged serve\b)(?!.* --port)/gm, "$1 --port 0");
    const port = stays && /127\.0\.0\.1:(\d+)/.exec(stays.child.output())?.[1];
    return port ? text.replaceAll(/127\.0\.0\.1:47\d\d\b/g, `127.0.0.1:${port}`) : text;
  };
  const run = async (command: string, args: readonly string[], until?: string): Promise<Ran> => {
    const child = startChild(command, args, { cwd: dir, env });
    if (until !== undefined) child.printed(until).then(() => child.signal("SIGINT"), () => {});
    return await child.ended;
  };
  return {
    dir,
    async write(path, text) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), placed(text));
    },
    async script(given, { until } = {}) {
      const text = placed(given);
      if (until !== undefined) return await run("/bin/bash", ["-ec", text], until);
      let [code, output]: [number | null, string] = [0, ""];
      for (const piece of piecesOf(text)) {
        const ended = "shell" in piece ? await run("/bin/bash", ["-ec", piece.shell]) : await here(piece.kaged);
        output += ended.output;
        if ((code = ended.code) !== 0) break; // As the shell's own -e does.
      }
      return { code, output };
    },
    async stay(text, ready) {
      await end();
      const child = startChild("/bin/bash", ["-ec", placed(text)], { cwd: dir, env });
      stays = { child, from: 0 };
      const printed = await child.printed(ready);
      stays = { child, from: printed.indexOf("\n", printed.indexOf(ready)) + 1 };
    },
    async printed(text) {
      if (stays === null) throw new Error("Nothing stays");
      const { child, from } = stays;
      const output = text === "" ? child.output() : await child.printed(text, child.output().length);
      return output.slice(from);
    },
    close: end,
    program: (file, { until } = {}) => run(process.execPath, [...PREFIX[runtimeName]!, file], until),
  };
}

const PREFIX: Readonly<Record<string, readonly string[]>> = {
  node: ["--disable-warning=ExperimentalWarning"],
  deno: ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", join(root, "deno.json")],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
};

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
