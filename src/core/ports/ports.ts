/**
 * The ports: everything that the core asks of a runtime. Each adapter fills them; the contract tests in
 * `tests/adapters/` hold all three to the same behaviour.
 *
 * @module
 */
import type { DatabaseOpener } from "./database.ts";
import type { HttpServers } from "./http.ts";
import type { Network } from "./network.ts";

export type {
  Authorizer,
  Database,
  DatabaseOpener,
  DatabaseOptions,
  SqlLimits,
  SqlValue,
  Statement,
} from "./database.ts";
export type { Network, SecureSocket, Socket, SocketListener, TlsIdentity } from "./network.ts";

/** A program to start: no shell, no inherited environment. */
export interface Command {
  /** Absolute path of the executable. */
  readonly file: string;
  /** Its arguments, passed on as they are. */
  readonly args: readonly string[];
  /** The whole environment: nothing is added to it. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory, absolute. */
  readonly cwd: string;
}

/** How a process ended: a code, or the signal that ended it. */
export interface Exit {
  /** Exit code, or null when a signal ended the process. */
  readonly code: number | null;
  /** Name of that signal, such as `SIGKILL`, or null. */
  readonly signal: string | null;
}

/** The signals that the host sends to processes. */
export type Signal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGSTOP";

/** Callbacks of a process's output. Chunks may be kept: they are not reused. */
export interface ProcessListeners {
  /** The next bytes of stdout. */
  stdout(chunk: Uint8Array): void;
  /** Stdout is at its end; called once, also when the process dies. */
  stdoutEnd(): void;
  /** The next bytes of stderr. */
  stderr(chunk: Uint8Array): void;
  /** Called when stdin has taken everything, after {@link ChildProcess.bufferedBytes} was above zero. */
  drain?(): void;
}

/** A child process with pipes to its stdin, stdout and stderr. */
export interface ChildProcess {
  /** Process id, which is also the id of its process group. */
  readonly pid: number;
  /**
   * Resolves when the process itself has ended, even while a grandchild still holds its pipes. Never rejects. Output
   * that had been written by then may still arrive afterwards.
   */
  readonly exited: Promise<Exit>;
  /** Resolves when stdout and stderr have both ended or been destroyed, after which no listener is called. */
  readonly closed: Promise<void>;
  /** Queues text for stdin, as UTF-8. Writing to a dead process does nothing. */
  write(text: string): void;
  /** Bytes queued for stdin that the system has not taken yet. */
  bufferedBytes(): number;
  /** Closes stdin after what is queued. */
  endInput(): void;
  /** Stops reading stdout, or stderr, until {@link resume}. */
  pause(output?: "stdout" | "stderr"): void;
  /** Goes on reading after {@link pause}. */
  resume(output?: "stdout" | "stderr"): void;
  /** Lets go of the pipes without waiting for their end. */
  release(): void;
  /** Signals the process. Does nothing when it has ended. */
  kill(signal: Signal): void;
}

/** Starts processes and signals them. */
export interface ProcessSpawner {
  /** False where each start has to be spawned when it comes, as by a spawner that watches what it starts. */
  readonly mayWait?: boolean;
  /**
   * Starts `command` at the head of a process group of its own. Rejects with the system's error when it cannot be
   * started. Listeners hear nothing before the caller has the process in hand.
   */
  spawn(command: Command, listeners: ProcessListeners): Promise<ChildProcess>;
  /** Signals any process, or a process group when `pid` is negative. Returns false when there is none. */
  signal(pid: number, signal: Signal): boolean;
}

/** A file, folder, link or other entry of the file system. */
export interface FileInfo {
  /** `other` is a pipe, a socket or a device. */
  readonly kind: "file" | "directory" | "symlink" | "other";
  /** Number of the device it is on. */
  readonly dev: number;
  /** Inode: unique on its device. */
  readonly ino: number;
  /** Permission bits, with setuid, setgid and sticky. */
  readonly mode: number;
  /** User id of its owner. */
  readonly uid: number;
  /** Size in bytes; of a link, the length of its text. */
  readonly size: number;
  /** Bytes that it takes on its device: fewer than its size where it has holes. */
  readonly allocatedBytes: number;
  /** Last change of content, in ms since 1970; whoever may write the file may also set it. */
  readonly modifiedMs: number;
  /** Last change of content, mode, owner or name, in ms since 1970, by the system's clock; some runtimes cut it to seconds. */
  readonly changedMs: number;
}

/** How a file is read from its first byte to its last. */
export interface ReadWhole {
  /** A file with more bytes than this rejects with an error whose `code` is `EFBIG`. */
  readonly maxBytes: number;
}

/** The length and the hash of a file's content. */
export interface FileDigest {
  /** Number of bytes read. */
  readonly bytes: number;
  /** Their SHA-256, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The file that was opened, as it was before its first byte was read. */
  readonly file: FileInfo;
}

/** A file that is open, for appends one after the other. */
export interface OpenFile {
  /** Resolves when all bytes are written; after a rejection some of them may be. */
  append(bytes: Uint8Array): Promise<void>;
  /** Gives the descriptor back. */
  close(): Promise<void>;
}

/** The file system. Paths are absolute. A missing path rejects with an error whose `code` is `ENOENT`. */
export interface Files {
  /** Reads a whole file as UTF-8. */
  readText(path: string): Promise<string>;
  /** Reads a whole file into memory. */
  readBytes(path: string): Promise<Uint8Array>;
  /** Reads the first `count` bytes, fewer when the file is shorter. */
  readHead(path: string, count: number): Promise<Uint8Array>;
  /** Reads the last `count` bytes, fewer when the file is shorter. */
  readTail(path: string, count: number): Promise<Uint8Array>;
  /** Reads up to `count` bytes from byte `from` on; none behind the end of the file. */
  readRange(path: string, from: number, count: number): Promise<Uint8Array>;
  /** Writes a whole file, replacing what was there, created with `mode` (default 0o600). */
  write(path: string, content: string | Uint8Array, mode?: number): Promise<void>;
  /** Appends to a file, created 0600 when missing. */
  append(path: string, text: string | Uint8Array): Promise<void>;
  /** Opens a file for several appends in a row, created 0600 when missing. */
  openToAppend(path: string): Promise<OpenFile>;
  /** Cuts a file down to its first `size` bytes. */
  truncate(path: string, size: number): Promise<void>;
  /** Moves a path over another in one step. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name, in one step. Rejects with `EEXIST` when something has that name. */
  link(from: string, to: string): Promise<void>;
  /** Makes one directory, its parents too when `recursive`. An existing directory is an error unless `recursive`. */
  makeDir(path: string, options?: { readonly recursive?: boolean; readonly mode?: number }): Promise<void>;
  /** Makes a fresh 0700 directory whose path starts with `prefix`. */
  makeTempDir(prefix: string): Promise<string>;
  /** Removes a file or a whole directory; a missing path is fine. */
  remove(path: string): Promise<void>;
  /**
   * Removes an empty directory, or a control group; a missing path is fine. A busy one, such as a group whose last
   * processes are just ending, is tried again for `busyMs` (default 0).
   */
  removeDir(path: string, options?: { readonly busyMs?: number }): Promise<void>;
  /** Names in a directory, sorted. */
  list(path: string): Promise<string[]>;
  /** The entry at `path`, links not followed, or null. */
  info(path: string): Promise<FileInfo | null>;
  /** Like {@link info} with links followed; also reaches into `/proc/<pid>/root`. */
  target(path: string): Promise<FileInfo | null>;
  /** Bytes in use on the file system that `path` is on, or null where the system does not say. */
  usedBytes(path: string): Promise<number | null>;
  /** The kernel's number for the kind of file system that `path` is on (`f_type` of statfs), or null where it is not known. */
  fileSystem(path: string): Promise<number | null>;
  /** The path with every link resolved. */
  realPath(path: string): Promise<string>;
  /** The text of a symbolic link. */
  readLink(path: string): Promise<string>;
  /** Makes a symbolic link at `path` that says `target`. Something at `path` is an error. */
  makeLink(path: string, target: string): Promise<void>;
  /** Sets the permission bits of a file or folder. A link is followed: pass what is known to be none. */
  setMode(path: string, mode: number): Promise<void>;
  /**
   * Reads a regular file piece by piece. Anything else rejects with an error whose `code` is `EINVAL`, a link with
   * `ELOOP`; a named pipe is not waited for.
   */
  digest(path: string, options: ReadWhole): Promise<FileDigest>;
  /** Copies a regular file, read as {@link digest} reads it, to a new one created with `mode`. */
  copyFile(from: string, to: string, options: ReadWhole & { readonly mode: number }): Promise<FileDigest>;
  /** Resolves when a file, or the names in a folder, are on the disk. */
  sync(path: string): Promise<void>;
  /** Bytes that this user may still write to the disk that `path` is on, or null where the system does not say. */
  freeBytes(path: string): Promise<number | null>;
  /** The first unix socket at or below `path`, links not followed, or null. Folders that cannot be read are left out. */
  findSocket(path: string): Promise<string | null>;
}

/** Time of day, elapsed time, and timers. */
export interface Clock {
  /** Milliseconds since 1970; steps back when the clock is set. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
  /**
   * Calls `run` once after `ms`; the returned function cancels. The waiting timer lets the process end, unless
   * `keepAlive`: for a deadline of work that a caller awaits and that nothing else may keep alive.
   */
  after(ms: number, run: () => void, options?: { readonly keepAlive?: boolean }): () => void;
}

/** Makes names that no other process makes. */
export interface Ids {
  /** A new id that starts with `prefix` and an underscore. */
  create(prefix: string): string;
}

/** Work on bytes that each runtime does fastest in its own way. */
export interface Bytes {
  /** Index of the first `\n` at or after `from`, or -1. */
  indexOfNewline(bytes: Uint8Array, from: number): number;
  /** Decodes UTF-8. Throws a `TypeError` when the bytes are not UTF-8. A leading byte order mark is kept. */
  decode(bytes: Uint8Array): string;
  /** Bytes `text` takes as UTF-8. */
  byteLength(text: string): number;
}

/** Follows work across its waits: an `AsyncLocalStorage`. */
export interface AsyncStorage {
  /** Runs `work`, and everything it sets off, with `store` in place. */
  run<T>(store: unknown, work: () => T): T;
  /** The store of the innermost {@link run} around this call. */
  getStore(): unknown;
}

/** A JavaScript file that the host starts: a plugin's own, the relay inside a cage, or the storage process. */
export type ScriptKind = "plugin" | "relay" | "storage";

/** A program that starts JavaScript files. */
export interface ScriptProgram {
  /** Which runtime it is: a plugin's command may ask for it by this name. */
  readonly name: Runtime["name"];
  /** Absolute path. */
  readonly executable: string;
  /**
   * Arguments with which it starts a file with every permission; the file's path follows them. Nothing in the working
   * directory or the environment changes how the relay and the storage process run.
   */
  readonly args: Readonly<Record<ScriptKind, readonly string[]>>;
  /** Variables without which it would not start the file. */
  readonly env: Readonly<Record<string, string>>;
}

/** One runtime, whole: what an adapter's `runtime` export is. */
export interface Runtime {
  /** The runtime's name, for people to read: nothing in the core is decided by it. */
  readonly name: "node" | "bun" | "deno";
  /** Its version, such as `24.21.0`. */
  readonly version: string;
  /** Absolute path of the program that runs: the runtime's, or the compiled program's that holds the runtime. */
  readonly executable: string;
  /** Whether this program was compiled into one file with its runtime: that file starts no other JavaScript. */
  readonly isCompiled: boolean;
  /**
   * Returns the program that starts JavaScript files: the one at `path`, an absolute path; without it the runtime itself,
   * and for a compiled program a runtime that is installed where cages look for programs. Rejects with `cage.js_missing`
   * or `cage.js_unusable`; the next call tries again.
   */
  scripts(path?: string): Promise<ScriptProgram>;
  /** Operating system as the runtime names it, such as `linux`. */
  readonly platform: string;
  /** Processor as the kernel names it: `x86_64`, `aarch64`, or another. */
  readonly arch: string;
  /** Process id of the host itself. */
  readonly pid: number;
  /** User id of this process, or null where there is none. */
  readonly uid: number | null;
  /** Starts and signals processes. */
  readonly processes: ProcessSpawner;
  /** Reads and writes files. */
  readonly files: Files;
  /** Reads the time and sets timers. */
  readonly clock: Clock;
  /** Calls `run` once input that has arrived was handed out. */
  next(run: () => void): void;
  /** Calls `run` about a millisecond later, once input that has arrived meanwhile was handed out. Ends with the process. */
  soon(run: () => void): void;
  /** Makes ids of sessions, jobs and requests. */
  readonly ids: Ids;
  /** Works on bytes the fastest way. */
  readonly bytes: Bytes;
  /** Opens SQLite databases. */
  readonly databases: DatabaseOpener;
  /** Opens sockets and looks names up. */
  readonly network: Network;
  /** Servers for HTTP and WebSocket. */
  readonly http: HttpServers;
  /** Follows work across its waits; absent where a runtime cannot. */
  readonly asyncStorage?: AsyncStorage;
  /** A second one, for the requests that work is done for. */
  readonly callers?: AsyncStorage;
  /** A variable of the environment, or null. */
  env(name: string): string | null;
  /**
   * Returns the flags that a host with its folder at `home` needs and that the runtime was started without; none on a
   * runtime without permissions.
   */
  missingPermissions(home: string | null): readonly string[];
}
