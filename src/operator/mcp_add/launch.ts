/**
 * The command line of a client's entry → the source behind it: `npx -y pkg arg` is the npm package `pkg`.
 *
 * @module
 */
import { parsePackage } from "./source.ts";
import type { Refusal, ServerSource } from "./types.ts";

/** A source with the arguments that follow it. */
export interface Launch {
  readonly source: ServerSource;
  readonly args: readonly string[];
  /** Headers that the arguments name, for a remote server. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of `npx` and its kin that take a value. */
const WITH_VALUE = ["-p", "--package", "-c", "--call", "--registry", "--cache", "--prefix", "--userconfig"];
/** Options of `node` that change nothing about what is started. */
const HARMLESS_NODE = /^--(?:no-warnings|enable-source-maps|no-deprecation|disable-warning=.+|experimental-[a-z-]+)$/;
const SCRIPT = /\.(?:[cm]?js|[cm]?ts)$/;

/**
 * Returns what a command line starts, or why it cannot be taken over. `absolute` completes the path of a file; the file's
 * own folder is the source then, until `packageFolder` finds that of its package.
 */
export function launchOf(
  command: string,
  args: readonly string[],
  absolute: (file: string) => string,
): Launch | Refusal {
  const [program, rest] = withoutShell(baseName(command), args);
  const packages = packageArguments(program, rest);
  if (packages) return packageLaunch(packages, program);
  if (["node", "nodejs", "bun", "deno", "js", "tsx"].includes(program)) return fileLaunch(program, rest, absolute);
  return refusalOf(program, command, rest);
}

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1).replace(/\.(?:cmd|exe)$/i, "");

/** `cmd /c npx …` and `/usr/bin/env npx …` start what follows them. */
function withoutShell(program: string, args: readonly string[]): [string, readonly string[]] {
  const [first = "", second = ""] = args;
  if (program === "cmd" && /^\/c$/i.test(first)) return [baseName(second), args.slice(2)];
  return program === "env" && /^[A-Za-z]/.test(first) && !first.includes("=")
    ? [baseName(first), args.slice(1)]
    : [program, args];
}

/** Returns the arguments of a program that fetches a package and runs it; null of any other. */
function packageArguments(program: string, args: readonly string[]): readonly string[] | null {
  const [first] = args;
  if (program === "npx" || program === "bunx" || program === "pnpx") return args;
  const verbs: Readonly<Record<string, readonly string[]>> = {
    npm: ["exec", "x"],
    pnpm: ["dlx"],
    yarn: ["dlx"],
    bun: ["x"],
  };
  return first !== undefined && verbs[program]?.includes(first) ? args.slice(1) : null;
}

function packageLaunch(args: readonly string[], program: string): Launch | Refusal {
  let named: string | null = null;
  let at = 0;
  for (; at < args.length && args[at]!.startsWith("-"); at++) {
    const word = args[at]!;
    if (word === "--") {
      at++;
      break;
    }
    const [option = "", value] = word.split("=", 2);
    if (option === "-c" || option === "--call") {
      return { reason: `${program} ${option} runs a shell`, hint: "Name the package: kaged mcp add <package>" };
    }
    if (!WITH_VALUE.includes(option)) continue;
    const given = value ?? args[++at] ?? "";
    if (option === "-p" || option === "--package") named = given;
  }
  const first = args[at] ?? "";
  const found = parsePackage(named ?? first);
  if (!found) {
    const what = JSON.stringify(named ?? first);
    return { reason: `${what} is no package of an npm registry`, hint: "Fetch it into a folder, and add the folder" };
  }
  const rest = args.slice(at + 1);
  return found.package === "mcp-remote" ? bridged(rest) : { source: { kind: "npm", ...found }, args: rest };
}

/** `mcp-remote <url> --header "Name: value"` is a bridge to a remote server, which needs no bridge here. */
function bridged(args: readonly string[]): Launch | Refusal {
  const url = args.find((word) => /^https?:\/\//.test(word));
  if (url === undefined) return { reason: "mcp-remote names no address", hint: "Name it: kaged mcp add https://…" };
  const headers = args.flatMap((word, index): [string, string][] => {
    const [, name, value] = args[index - 1] === "--header" ? /^([^:\s]+):\s*(.*)$/s.exec(word) ?? [] : [];
    return name === undefined ? [] : [[name, value!]];
  });
  return { source: { kind: "remote", url }, args: [], headers: Object.fromEntries(headers) };
}

function fileLaunch(
  program: string,
  args: readonly string[],
  absolute: (file: string) => string,
): Launch | Refusal {
  const rest = program === "deno" || program === "bun"
    ? args.filter((word, at) => !(at === 0 && word === "run"))
    : args;
  const at = rest.findIndex((word) => !word.startsWith("-"));
  const file = rest[at];
  const odd = rest.slice(0, Math.max(at, 0)).find((word) => program !== "deno" && !HARMLESS_NODE.test(word));
  if (odd !== undefined) {
    return { reason: `${program} ${odd} would be started differently`, hint: "Write a kaged-plugin.yaml for it" };
  }
  if (file === undefined || /^[a-z]+:/.test(file) || !(SCRIPT.test(file) || file.includes("/"))) {
    return { reason: `${program} is given no file to start`, hint: "Name the server's folder: kaged mcp add ./server" };
  }
  const path = absolute(file);
  const slash = path.lastIndexOf("/");
  const source = { kind: "folder", path: path.slice(0, slash) || "/", entry: path.slice(slash + 1) } as const;
  return { source, args: rest.slice(at + 1) };
}

function refusalOf(program: string, command: string, args: readonly string[]): Refusal {
  if (["uvx", "uv", "pipx", "pip", "python", "python3"].includes(program)) {
    return {
      reason: `${program} runs a Python program, whose packages kaged does not fetch`,
      hint: "Install it into a folder (pip install --target), write a kaged-plugin.yaml there, and add the folder",
    };
  }
  if (program === "docker" || program === "podman") {
    const image = args.findLast((word) => /^[a-z0-9][\w./-]*(?::[\w.-]+)?$/i.test(word) && word.includes("/"));
    return {
      reason: `${program} starts a container${image ? ` of ${image}` : ""}, which the cage cannot hold`,
      hint: "Use the server's npm package, if it has one: kaged mcp add <package>",
    };
  }
  return {
    reason: `${JSON.stringify(command)} is a program of this machine, and only its author knows the files it needs`,
    hint: "Make a folder with the program and a kaged-plugin.yaml, and add the folder",
  };
}
