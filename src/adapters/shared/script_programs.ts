/**
 * Programs that start JavaScript files: the runtime that runs this program, and any other on this machine. A compiled
 * program (`bun build --compile`, `deno compile`, a single executable application of Node) holds a runtime and cannot
 * lend it: it would start itself, except where its runtime has a variable for that.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import type { Runtime, ScriptKind, ScriptProgram } from "../../core/ports/ports.ts";
import { clock } from "./clock.ts";
import { files } from "./files.ts";
import { processes } from "./processes.ts";
import { FLOORS, isOlder } from "../runtime_floor.ts";

type Name = Runtime["name"];

// Neither a bunfig.toml nor an .env file in the working directory may change how the program runs.
const BUN_ALONE: readonly string[] = ["--config=/dev/null", "--no-env-file", "--no-install"];
// The cage is the permission system: Deno's own would only ask the same questions a second time.
const DENO_RUN: readonly string[] = ["run", "-A", "--quiet", "--no-lock"];

/** Arguments before a JavaScript file, by runtime. */
export const SCRIPT_ARGS: Readonly<Record<Name, Readonly<Record<ScriptKind, readonly string[]>>>> = {
  node: {
    plugin: [],
    // Each thread that V8 does not start is one less to count against the process limit of the cage.
    relay: ["--v8-pool-size=1"],
    storage: ["--no-warnings"],
  },
  bun: { plugin: BUN_ALONE, relay: BUN_ALONE, storage: BUN_ALONE },
  deno: {
    // A cage keeps no compiled code from one start to the next: writing it would cost a third of the start.
    plugin: [...DENO_RUN, "--no-code-cache"],
    relay: [...DENO_RUN, "--no-config", "--no-code-cache"],
    // It comes with the host whole: nothing in a folder or on a registry changes how it runs.
    storage: [...DENO_RUN, "--no-config", "--no-remote", "--no-npm"],
  },
};

/** The first line of `--version`, by runtime. */
const VERSION_LINES: Readonly<Record<Name, RegExp>> = {
  node: /^v(\d+\.\d+\.\d+)/,
  bun: /^(\d+\.\d+\.\d+)/,
  deno: /^deno (\d+\.\d+\.\d+)/,
};
const NAMES = Object.keys(VERSION_LINES) as readonly Name[];
const NEEDED = NAMES.map((name) => `${name} ${FLOORS[name]}`).join(", ");

/** Where cages look for programs. */
const FOLDERS = ["/usr/local/bin", "/usr/bin"];
/** A program that has not named its version by then is none of the three. */
const VERSION_MS = 10_000;

/** This program, as far as it matters to starting others. */
interface OwnProgram extends Pick<Runtime, "name" | "isCompiled" | "executable"> {
  /** Variables with which it starts files although it is compiled, or null where there are none. */
  readonly compiledEnv: Readonly<Record<string, string>> | null;
  /** Where a compiled program looks for an installed runtime. Default: where cages look for programs. */
  readonly folders?: readonly string[];
}

/** Returns {@link Runtime.scripts} of this program. What was found once is not looked for again. */
export function scriptPrograms(own: OwnProgram): Runtime["scripts"] {
  const found = new Map<string | undefined, Promise<ScriptProgram>>();
  const find = (path: string | undefined): Promise<ScriptProgram> => {
    if (path !== undefined) return namedProgram(path, own);
    return own.isCompiled ? installedProgram(own) : Promise.resolve(programOf(own.name, own.executable));
  };
  return (path) => {
    let finding = found.get(path);
    if (!finding) {
      found.set(path, finding = find(path));
      finding.catch(() => found.delete(path));
    }
    return finding;
  };
}

function programOf(name: Name, executable: string, env: ScriptProgram["env"] = {}): ScriptProgram {
  return { name, executable, args: SCRIPT_ARGS[name], env };
}

async function namedProgram(path: string, own: OwnProgram): Promise<ScriptProgram> {
  const unusable = (why: string, hint = `Name one of ${NEEDED}, or newer`): HostError =>
    new HostError("cage.js_unusable", `Cannot run JavaScript files with "${path}": ${why}`, { data: { path }, hint });
  const real = await files.realPath(path).catch((error) => {
    throw unusable(messageOf(error));
  });
  const isOwn = real === await files.realPath(own.executable);
  if (isOwn && !own.isCompiled) return programOf(own.name, own.executable);
  if (isOwn && own.compiledEnv === null) throw unusable("it is this compiled program, which would start itself");
  const env = isOwn ? own.compiledEnv! : {};
  const looked = await lookAt(real, env);
  if (typeof looked === "string") throw unusable(`it ${looked}`);
  return programOf(looked.name, real, env);
}

/** Finds an installed runtime for a compiled program, one of its own kind before others. */
async function installedProgram(
  { name: own, executable, compiledEnv, folders = FOLDERS }: OwnProgram,
): Promise<ScriptProgram> {
  const passed: string[] = [];
  for (const name of [own, ...NAMES.filter((each) => each !== own)]) {
    for (const folder of folders) {
      const path = `${folder}/${name}`;
      const real = await files.realPath(path).catch(() => null);
      if (real === null || real === executable) continue;
      const looked = await lookAt(real, {});
      if (typeof looked !== "string") return programOf(looked.name, real);
      passed.push(`"${path}" ${looked}`);
    }
  }
  const itself = compiledEnv === null
    ? ""
    : "; js: process.execPath works too, and lets plugins read this program's own file";
  throw new HostError(
    "cage.js_missing",
    `This program is compiled and starts no JavaScript files, and ${folders.join(" and ")} hold no runtime for them` +
      (passed.length > 0 ? `: ${passed.join(", ")}` : ""),
    {
      data: { searched: folders, passed },
      hint: `Set the option js to the path of one of ${NEEDED} or newer, or runtimes.js in config.toml${itself}`,
    },
  );
}

/** Returns which runtime a program is, or what is wrong with it. */
async function lookAt(path: string, env: ScriptProgram["env"]): Promise<{ readonly name: Name } | string> {
  const head = await files.readHead(path, 2).catch(() => new Uint8Array());
  if (head[0] === 0x23 && head[1] === 0x21) return "is a script that starts another program";
  return runtimeIn(await versionLine(path, env).catch(messageOf));
}

/** Reads which runtime printed a line for `--version`; a text says what is wrong with it. */
export function runtimeIn(line: string): { readonly name: Name } | string {
  for (const name of NAMES) {
    const version = VERSION_LINES[name].exec(line)?.[1];
    if (version === undefined) continue;
    const floor = FLOORS[name]; // Older ones run neither the relay nor the storage process.
    return isOlder(version, floor) ? `is ${name} ${version}, older than ${floor}` : { name };
  }
  return "is neither Node, Bun nor Deno";
}

async function versionLine(file: string, env: ScriptProgram["env"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const child = await processes.spawn({ file, args: ["--version"], env, cwd: "/" }, {
    stdout: (chunk) => void (text = (text + decoder.decode(chunk, { stream: true })).slice(0, 200)),
    stdoutEnd: () => {},
    stderr: () => {},
  });
  const cancel = clock.after(VERSION_MS, () => child.kill("SIGKILL"));
  child.endInput();
  await child.closed;
  await child.exited;
  cancel();
  return text;
}
