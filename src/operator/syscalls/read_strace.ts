/**
 * Reads the output of `strace -f -y`. Calls before the plugin's own first program belong to the launcher and are left
 * out.
 *
 * @module
 */
import { normalPath } from "../../hooks/files/named_scripts.ts";
import { askedName } from "./asked_name.ts";

/** A path that the plugin used or asked for. */
export interface ObservedPath {
  /** Absolute path, as the plugin sees it. */
  readonly path: string;
  /** `write` where it wanted to change something. */
  readonly access: "read" | "write";
  /** Whether the kernel allowed it. */
  readonly ok: boolean;
}

/** A network address that it connected to by itself, past any relay. */
export interface ObservedAddress {
  readonly address: string;
  readonly port: number;
  /** Null when the answer came later and was not seen. */
  readonly ok: boolean | null;
}

/** One run of a plugin, seen from outside. */
export interface Observed {
  /** Without the programs it started. */
  readonly paths: readonly ObservedPath[];
  /** Absolute paths of programs it started. */
  readonly programs: readonly string[];
  readonly addresses: readonly ObservedAddress[];
  /** Hosts it asked a name server for. */
  readonly names: readonly string[];
  /** Ports it listened on; 0 is any. */
  readonly ports: readonly number[];
}

/** Calls that only look; a path is their first text. */
const LOOKS = ["stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"];
const OPENS = ["open", "openat", "openat2"];
/** Calls that change what their one path names. */
const CHANGES = [
  ...["creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "truncate", "chmod", "fchmodat", "chown", "lchown"],
  ...["fchownat", "utimensat", "mknod", "mknodat"],
];
/** Calls with two paths that change both. */
const MOVES = ["rename", "renameat", "renameat2"];
/** Calls with two paths that change the second. */
const LINKS = ["link", "linkat", "symlink", "symlinkat"];

const WRITES = [...CHANGES, ...MOVES, ...LINKS];
/** Calls that may hold a question to a name server. Go writes its own; its errors name the host. */
const SENDS = ["sendto", "sendmsg", "sendmmsg"];

/** The calls strace is asked for. */
export const WATCHED_CALLS: readonly string[] = [
  ...[...LOOKS, ...OPENS, ...WRITES],
  ...["execve", "execveat", "chdir", "connect", "bind", ...SENDS],
];

const LINE = /^(\d+) +(.*)$/;
const CALL = /^([a-z0-9_]+)\((.*)\) += (-?\d+|\?)(?:<[^>]*>)?(?: ([A-Z0-9]+))?/s;
const PORT = /sin6?_port=htons\((\d+)\)/;
const OPEN_FOR_WRITE = /\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b/;
const TEXT = /(?:(AT_FDCWD|\d+)(?:<((?:[^>\\]|\\.)*)>)?, *)?"((?:[^"\\]|\\.)*)"(\.\.\.)?/g;

/** Reads a log of strace; `start` is the folder the plugin starts in. */
export function readStrace(log: string, start: string): Observed {
  const reading = new Reading(start);
  for (const line of log.split("\n")) reading.line(line);
  return reading.observed();
}

class Reading {
  readonly #paths = new Map<string, ObservedPath>();
  readonly #programs = new Set<string>();
  readonly #addresses = new Map<string, ObservedAddress>();
  readonly #names = new Set<string>();
  readonly #ports = new Set<number>();
  readonly #launchers = new Set<string>();
  readonly #folders = new Map<string, string>();
  readonly #unfinished = new Map<string, string>();
  readonly #start: string;
  #phase: "launcher" | "bwrap" | "plugin" = "launcher";

  constructor(start: string) {
    this.#start = start;
  }

  observed(): Observed {
    return {
      paths: [...this.#paths.values()],
      programs: [...this.#programs],
      addresses: [...this.#addresses.values()],
      names: [...this.#names],
      ports: [...this.#ports],
    };
  }

  line(line: string): void {
    const [, pid = "", text = ""] = LINE.exec(line) ?? [];
    if (pid === "") return;
    if (text.endsWith("<unfinished ...>")) {
      this.#unfinished.set(pid, text.slice(0, -"<unfinished ...>".length).trimEnd());
      return;
    }
    const resumed = /^<\.\.\. [a-z0-9_]+ resumed>(.*)$/s.exec(text)?.[1];
    const whole = resumed === undefined ? text : `${this.#unfinished.get(pid) ?? ""}${resumed}`;
    const [, call = "", args = "", result = "", error = ""] = CALL.exec(whole) ?? [];
    if (call !== "" && this.#isInside(pid, call, args, result)) this.#onCall(pid, call, args, error);
  }

  /** Whether a call is the plugin's: its processes are those that appear once its program runs. */
  #isInside(pid: string, call: string, args: string, result: string): boolean {
    if (this.#phase === "plugin") return !this.#launchers.has(pid);
    this.#launchers.add(pid);
    if (!call.startsWith("execve") || result !== "0") return false;
    if (this.#phase === "launcher") {
      if (/\/bwrap"/.test(args)) this.#phase = "bwrap";
      return false;
    }
    this.#phase = "plugin";
    this.#launchers.delete(pid);
    return true;
  }

  #onCall(pid: string, call: string, args: string, error: string): void {
    const ok = error === "";
    if (call === "bind") return this.#onBind(args);
    if (call === "connect") return this.#onConnect(args, error);
    if (SENDS.includes(call)) return this.#onSend(args);
    const paths = this.#pathsIn(pid, args);
    const [first, ...others] = paths;
    if (first === undefined) return;
    if (call.startsWith("execve") && ok) return void this.#programs.add(first);
    if (call === "chdir" && ok) this.#folders.set(pid, first);
    const isWrite = OPENS.includes(call) ? OPEN_FOR_WRITE.test(args.replace(TEXT, "")) : WRITES.includes(call);
    const access = isWrite ? "write" : "read";
    for (const path of MOVES.includes(call) ? paths : LINKS.includes(call) ? others : [first]) {
      this.#paths.set(`${access} ${ok} ${path}`, { path, access, ok });
    }
  }

  #onBind(args: string): void {
    const port = PORT.exec(args)?.[1];
    if (port !== undefined) this.#ports.add(Number(port));
  }

  #onConnect(args: string, error: string): void {
    const port = Number(PORT.exec(args)?.[1] ?? 0);
    const address = /inet_addr\("([^"]+)"\)/.exec(args)?.[1] ?? /inet_pton\(AF_INET6, "([^"]+)"/.exec(args)?.[1];
    if (address === undefined || port === 0) return; // A unix socket, or a question for the route.
    const ok = error === "EINPROGRESS" ? null : error === "";
    this.#addresses.set(`${address} ${port}`, { address, port, ok });
  }

  #onSend(args: string): void {
    for (const [, , , text = ""] of args.matchAll(TEXT)) {
      const name = askedName(binary(text));
      if (name !== null) this.#names.add(name);
    }
  }

  /** Every path among the arguments, absolute and without `.` and `..`. */
  #pathsIn(pid: string, args: string): string[] {
    const found: string[] = [];
    for (const [, at, folder, text = "", cut] of args.matchAll(TEXT)) {
      if (at === "AT_FDCWD" && folder !== undefined) this.#folders.set(pid, unescaped(folder));
      // An empty text asks about the descriptor itself; one that was cut cannot be known.
      if (text === "" || cut) continue;
      const base = folder === undefined ? this.#folders.get(pid) ?? this.#start : unescaped(folder);
      const path = unescaped(text);
      found.push(normalPath(path.startsWith("/") ? path : `${base}/${path}`));
    }
    return found;
  }
}

/** Undoes the escapes of strace: bytes that are no printable ASCII are written in octal. */
function unescaped(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(binary(text), (char) => char.charCodeAt(0)));
}

/** The same, one character per byte. */
function binary(text: string): string {
  const named: Record<string, string> = { n: "\n", t: "\t", r: "\r", v: "\v", f: "\f" };
  return text.replace(/\\([0-7]{1,3}|x[0-9a-f]{2}|.)/g, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(parseInt(code, 8));
    if (/^x./.test(code)) return String.fromCharCode(parseInt(code.slice(1), 16));
    return named[code] ?? code;
  });
}
