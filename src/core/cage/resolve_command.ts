/**
 * Finds the program of a plugin, its interpreters and its `exec:` programs. The cage holds no other program of the host.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Files, Runtime, ScriptProgram } from "../ports/ports.ts";
import type { ExecutableMount, ResolvedCommand } from "./cage_plan.ts";
import { isWithin } from "./path_rules.ts";
import { envName, isEnv, parseShebang, SHEBANG_BYTES } from "./shebang.ts";

/** Where programs are looked for by their bare name, in this order. */
const PROGRAM_DIRS = ["/usr/local/bin", "/usr/bin"];
/** Folders whose programs a command or a first line may name by their path, over a link too: /bin/sh is one. */
const SYSTEM_DIRS = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
const MAX_INTERPRETERS = 3;

/** The reserved name of the program that starts JavaScript files: by default the runtime that the host runs on. */
const OWN_RUNTIME = "js";

/** The folders and grants that a command is resolved with. */
export interface CommandPlaces {
  /** The plugin's folder, links resolved. */
  readonly installDir: string;
  /** The operator's folder, links resolved. */
  readonly home: string;
  /** Interpreters the operator named. */
  readonly runtimes: Readonly<Record<string, string>>;
  /** Bare names of the `exec:` grants. */
  readonly programs: readonly string[];
}

/**
 * Returns the command as it runs in the cage, with the mounts it needs.
 *
 * @throws {HostError} `cage.command_missing`, `cage.command_shim`, `cage.js_missing` or `cage.js_unusable`.
 */
export async function resolveCommand(
  manifest: Manifest,
  places: CommandPlaces,
  runtime: Runtime,
): Promise<ResolvedCommand> {
  const search = new Search(places, runtime);
  const [program = "", ...args] = manifest.command;
  const argv = await search.command(program, args);
  for (const name of places.programs) await search.bareName(name, `exec:${name}`, 0);
  const mounts = [...search.mounts.values()].sort((a, b) => a.dest < b.dest ? -1 : 1);
  return { argv, mounts, env: search.env };
}

/** The compiled program that was found last, most often the runtime of the next start too, as it was when it was read. */
const compiled = new WeakMap<Files, string>();

/** One search: collects mounts by where they appear in the cage. */
class Search {
  readonly mounts: Map<string, ExecutableMount> = new Map();
  env: Readonly<Record<string, string>> = {};
  readonly #places: CommandPlaces;
  readonly #runtime: Runtime;
  readonly #files: Files;

  constructor(places: CommandPlaces, runtime: Runtime) {
    this.#places = places;
    this.#runtime = runtime;
    this.#files = runtime.files;
  }

  /** Resolves the manifest's command; returns it with an absolute program. */
  async command(program: string, args: readonly string[]): Promise<string[]> {
    if (program === "") throw missing("command", "it names no program");
    if (isEnv(program)) {
      const name = envName(args);
      if (name === OWN_RUNTIME) return await this.command(name, args.slice(args.indexOf(name) + 1));
      await this.absolute(program, "command", 0);
      await this.bareName(name, "command", 0);
      return [program, ...args];
    }
    if (!program.includes("/")) {
      const before = program === OWN_RUNTIME ? (await this.#js()).args.plugin : [];
      return [await this.bareName(program, "command", 0), ...before, ...args];
    }
    if (program.startsWith("/")) return [await this.absolute(program, "command", 0), ...args];
    return [await this.ownFile(program), ...args];
  }

  /** A file of the plugin: it is in the cage already, its interpreter may not be. */
  async ownFile(relative: string): Promise<string> {
    const { installDir } = this.#places;
    const path = `${installDir}/${relative}`;
    const real = await this.#real(path, relative, "Correct command in kaged-plugin.yaml");
    if (!isWithin(real, installDir)) throw missing(relative, `it leads to "${real}", outside the plugin's folder`);
    await this.#interpreters(real, relative, 0);
    return real;
  }

  /** A program named by its path on the host. */
  async absolute(path: string, asked: string, depth: number): Promise<string> {
    const real = await this.#real(path, path, `Install "${path}" or correct it`);
    if (isWithin(real, this.#places.installDir) && real === path) {
      await this.#interpreters(real, asked, depth);
      return path;
    }
    const slash = path.lastIndexOf("/");
    if (!SYSTEM_DIRS.includes(path.slice(0, slash))) {
      if (real !== path) throw missing(path, `it leads to "${real}"`, `Name "${real}" itself`);
      await this.#refuseOtherFiles(real);
    }
    const folder = await this.#files.realPath(path.slice(0, slash) || "/");
    const dest = `${folder}/${path.slice(slash + 1)}`;
    this.#mount({ source: real, dest });
    await this.#interpreters(real, asked, depth);
    return path;
  }

  /** A program by its name alone; returns where it is in the cage. */
  async bareName(name: string, asked: string, depth: number): Promise<string> {
    if (name === "" || name.includes("/") || name.startsWith("-")) throw missing(name, "it is no name of a program");
    const dest = `/usr/bin/${name}`;
    const { path, named } = await this.#find(name, asked);
    const real = await this.#real(path, name, `Correct runtimes.${name} in config.toml`);
    if (!named && !isWithin(real, this.#places.installDir) && await this.#isScript(real)) {
      throw new HostError(
        "cage.command_shim",
        `Cannot run "${name}": "${real}" is a script that starts another program`,
        {
          data: { program: name, path: real },
          hint: `Name the program itself: runtimes.${name} = "/path/to/${name}" in config.toml`,
        },
      );
    }
    const prefix = named && name.startsWith("python") ? await this.#prefixOf(real) : null;
    if (prefix === null) {
      this.#mount({ source: real, dest });
    } else {
      // Python finds its library from its own place, links followed.
      this.#mount({ source: real, dest: real });
      this.#mount({ source: prefix, dest: prefix });
      this.#mount({ source: real, dest, link: true });
    }
    await this.#interpreters(real, asked, depth);
    return dest;
  }

  async #find(name: string, asked: string): Promise<{ path: string; named: boolean }> {
    const own = this.#runtime;
    if (name === OWN_RUNTIME) {
      const { executable, env } = await this.#js();
      this.env = env;
      return { path: executable, named: true };
    }
    const configured = Object.hasOwn(this.#places.runtimes, name) ? this.#places.runtimes[name] : undefined;
    if (configured !== undefined) return { path: configured, named: true };
    if (name === own.name && !own.isCompiled) return { path: own.executable, named: true };
    for (const dir of PROGRAM_DIRS) {
      if (await this.#files.target(`${dir}/${name}`)) return { path: `${dir}/${name}`, named: false };
    }
    const hint = `Install "${name}", or name it: runtimes.${name} = "/path/to/${name}" in config.toml`;
    throw missing(name, `${asked} needs it, and it is in none of ${PROGRAM_DIRS.join(", ")}`, hint);
  }

  /** The program that starts JavaScript files: the operator's before the embedder's. */
  #js(): Promise<ScriptProgram> {
    return this.#runtime.scripts(this.#places.runtimes[OWN_RUNTIME]);
  }

  /** Mounts the interpreters of a script, down to a compiled program. */
  async #interpreters(path: string, asked: string, depth: number): Promise<void> {
    const info = await this.#files.target(path);
    if (info?.kind !== "file") throw missing(asked, `"${path}" is no file`);
    if ((info.mode & 0o111) === 0) throw missing(asked, `"${path}" is not executable`, `chmod +x ${path}`);
    const stamp = [path, info.dev, info.ino, info.size, info.modifiedMs].join();
    if (compiled.get(this.#files) === stamp) return;
    const shebang = parseShebang(await this.#files.readHead(path, SHEBANG_BYTES));
    if (!shebang) return void compiled.set(this.#files, stamp);
    if (depth >= MAX_INTERPRETERS) throw missing(asked, `more than ${MAX_INTERPRETERS} scripts start each other`);
    if (!shebang.interpreter.startsWith("/")) {
      throw missing(asked, `the interpreter ${JSON.stringify(shebang.interpreter)} of "${path}" is no absolute path`);
    }
    await this.absolute(shebang.interpreter, `the first line of "${path}"`, depth + 1);
    if (shebang.envName !== null) await this.bareName(shebang.envName, `the first line of "${path}"`, depth + 1);
  }

  /** A command is no way to read the host's files: outside the system's folders only compiled programs are shown. */
  async #refuseOtherFiles(path: string): Promise<void> {
    const known = [this.#runtime.executable, ...Object.values(this.#places.runtimes)];
    if (known.includes(path)) return;
    const head = await this.#files.readHead(path, 4);
    const isProgram = head.length === 4 && [0x7f, 0x45, 0x4c, 0x46].every((byte, i) => head[i] === byte);
    if (isProgram && !isWithin(path, this.#places.home)) return;
    throw missing(path, "it is no compiled program outside the host's own files", "Copy it into the plugin's folder");
  }

  async #isScript(path: string): Promise<boolean> {
    return parseShebang(await this.#files.readHead(path, SHEBANG_BYTES)) !== null;
  }

  async #prefixOf(real: string): Promise<string | null> {
    if (isWithin(real, "/usr") || !/\/bin\/[^/]+$/.test(real)) return null;
    const lib = real.replace(/\/bin\/[^/]+$/, "/lib");
    return (await this.#files.info(lib))?.kind === "directory" ? lib : null;
  }

  async #real(path: string, asked: string, hint: string): Promise<string> {
    try {
      return await this.#files.realPath(path);
    } catch (cause) {
      throw missing(asked, `${JSON.stringify(path)} cannot be found`, hint, cause);
    }
  }

  #mount(mount: ExecutableMount): void {
    this.mounts.set(mount.dest, mount);
  }
}

function missing(asked: string, why: string, hint?: string, cause?: unknown): HostError {
  return new HostError("cage.command_missing", `Cannot run "${asked}": ${why}`, {
    data: { program: asked },
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  });
}
