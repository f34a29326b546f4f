/**
 * Writes every message on the wire of a plugin's process to a file. A tape that fails does not stop the plugin.
 *
 * @module
 */
import { HostError, messageOf } from "../../errors/host_error.ts";
import type { Exit, Runtime } from "../../ports/ports.ts";
import { MAX_LINE_BYTES } from "../connection_types.ts";
import { parseLine } from "../codec.ts";
import { LineReader } from "../read_lines.ts";
import { hashTree } from "../../files/tree.ts";
import type { Manifest } from "../../manifest/manifest.ts";
import type { WireTap } from "../wire_tap.ts";
import { API_VERSION } from "../../values/version.ts";
import { defined } from "../../values/plain_data.ts";
import type { SecretMask } from "../../values/secret_mask.ts";
import { SecretKeeper } from "./secrets.ts";
import { TAPE_FORMAT, TAPE_VERSION, type TapeEntry, type TapeHeader, type TapeMessage } from "./tape.ts";

/** The plugin whose process is recorded. */
export interface TapedPlugin {
  readonly plugin: string;
  readonly version: string;
  readonly dir: string;
  readonly instance: string;
  /** Names the secret fields that the tape hides. */
  readonly manifest: Manifest;
}

/** Settings of one tape. */
interface RecordOptions {
  /** Absolute path of the new file. */
  readonly path: string;
  readonly plugin: TapedPlugin;
  /** Whether the file's folder is made when it is missing. Default false. */
  readonly makesFolder?: boolean;
  readonly runtime: Pick<Runtime, "files" | "clock" | "bytes">;
  /** Secrets of other plugins, which the tape hides too. Default: none. */
  readonly secrets?: SecretMask;
  /** Called once when the tape cannot be written on: `tape.exists` or `tape.unwritable`. */
  readonly onFailure: (error: HostError) => void;
}

/** A tape that is being written. */
export interface Recording extends WireTap {
  /** Resolves when everything taken down so far is in the file, or the tape has failed. */
  flush(): Promise<void>;
}

/** Characters that may wait to be written. */
const MAX_WAITING = 64 * 1024 * 1024;
/** Characters of a line that is no message which are kept. */
const MAX_NOISE = 10_000;

/** Starts a tape. Its file is made with mode 0600 and holds no secret of the plugin's config. */
export function recordTape(
  { path, plugin, runtime, onFailure, secrets: others, makesFolder = false }: RecordOptions,
): Recording {
  const { files, clock, bytes } = runtime;
  const startedMs = clock.monotonic();
  const started = new Date(clock.now()).toISOString();
  const secrets = new SecretKeeper(plugin.manifest, others);
  const head = async (): Promise<string> => {
    const { plugin: name, version, dir, instance } = plugin;
    if (makesFolder) await files.makeDir(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    const hash = await hashTree(dir, files).then((tree) => tree.hash, () => null);
    const header: TapeHeader = {
      format: TAPE_FORMAT,
      format_version: TAPE_VERSION,
      plugin: name,
      version,
      hash,
      dir,
      instance,
      api_version: API_VERSION,
      started,
      ...defined({ withheld: plugin.manifest.withheld }),
    };
    return `${JSON.stringify(header)}\n`;
  };
  const writer = tapeWriter(path, files, { head, onFailure });
  const t = (): number => Math.round(clock.monotonic() - startedMs);
  const add = (entry: TapeEntry): void => writer.add(`${JSON.stringify(entry)}\n`);
  const noise = (text: string): void =>
    add({ t: t(), from: "plugin", noise: secrets.hideText(text).slice(0, MAX_NOISE) });
  const take = (from: "host" | "plugin", line: string): void => {
    const message = parseLine(line);
    const isMessage = typeof message === "object" && message !== null && !Array.isArray(message);
    if (!isMessage) return noise(line); // The host writes nothing but messages.
    try {
      add({ t: t(), from, message: secrets.hide(message as TapeMessage) });
    } catch {
      noise(line); // It can be read and not written: nested too deeply.
    }
  };
  const reader = new LineReader({
    line: (text, start, end) => take("plugin", text.slice(start, end)),
    undecodable: noise,
    oversize: () => noise(`a line of more than ${MAX_LINE_BYTES} bytes`),
  }, { bytes, maxLineBytes: MAX_LINE_BYTES });
  return {
    plugin: (chunk) => reader.push(chunk),
    host: (text) => {
      for (const line of text.split("\n")) if (line !== "") take("host", line);
    },
    closed: () => add({ t: t(), from: "host", closed: true }),
    end: ({ code, signal }: Exit) => add({ t: t(), from: "plugin", exit: { code, signal } }),
    flush: () => writer.flush(),
  };
}

/** Makes the file and appends lines, one write at a time. The first failure ends the tape. */
function tapeWriter(
  path: string,
  files: Runtime["files"],
  { head, onFailure }: { readonly head: () => Promise<string>; readonly onFailure: (error: HostError) => void },
): { add(line: string): void; flush(): Promise<void> } {
  let waiting: string[] = [];
  let waitingLength = 0;
  let hasFailed = false;

  async function begin(): Promise<void> {
    if (await files.info(path) !== null) {
      throw new HostError("tape.exists", `Cannot record to "${path}": there is something already`, {
        data: { path },
        hint: "Name a new file, or remove it first",
      });
    }
    await files.write(path, await head(), 0o600);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.join("");
      waiting = [];
      waitingLength = 0;
      await files.append(path, text);
    }
  }

  function fail(thrown: unknown): void {
    if (hasFailed) return;
    hasFailed = true;
    waiting = [];
    if (thrown instanceof HostError) return onFailure(thrown);
    const message = `Cannot record to "${path}": ${messageOf(thrown)}`;
    const hint = "Check the path, its permissions and the room on the disk; the plugin went on without it";
    onFailure(new HostError("tape.unwritable", message, { data: { path }, hint, cause: thrown }));
  }

  const run = (work: Promise<void>): Promise<void> => work.catch(fail).finally(() => writing = null);
  let writing: Promise<void> | null = run(begin().then(drain));
  return {
    add(line) {
      if (hasFailed) return;
      waiting.push(line);
      waitingLength += line.length;
      if (waitingLength > MAX_WAITING) return fail(new Error("Messages come faster than they can be written"));
      writing ??= run(drain());
    },
    async flush() {
      while (writing) await writing;
    },
  };
}

/** Settings of a folder of tapes. */
interface RecorderOptions {
  /** Absolute path of the folder, made with the first tape. */
  readonly dir: string;
  readonly runtime: Pick<Runtime, "files" | "clock" | "bytes">;
  /** Secrets of all plugins of the host. Default: none. */
  readonly secrets?: SecretMask;
  /** Called for each tape that could not be written on. */
  readonly onFailure: (error: HostError) => void;
}

/** Starts a tape for each process. */
export interface Recorder {
  /** Starts a tape for a process that is about to start. */
  tap(plugin: TapedPlugin): WireTap;
  /** Resolves when everything so far is written. */
  flush(): Promise<void>;
}

/** Returns a recorder that has made nothing yet. */
export function tapeFolder({ dir, ...options }: RecorderOptions): Recorder {
  const recordings = new Set<Recording>();
  let count = 0;
  return {
    tap(plugin) {
      const path = `${dir}/${tapeName(plugin.instance, options.runtime.clock.now(), ++count)}`;
      const recording = recordTape({ ...options, path, plugin, makesFolder: true });
      recordings.add(recording);
      return {
        ...recording,
        end(exit) {
          recording.end(exit);
          void recording.flush().then(() => recordings.delete(recording));
        },
      };
    },
    async flush() {
      await Promise.all([...recordings].map((recording) => recording.flush()));
    },
  };
}

/** Instance, time and number; what a file name should not hold becomes an underscore. */
function tapeName(instance: string, nowMs: number, count: number): string {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  return `${instance.replace(/[^A-Za-z0-9@.-]/g, "_")}-${time}-${count}.jsonl`;
}
