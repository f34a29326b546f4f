/**
 * Writes every message on the wire of a plugin's process to a file. A tape that fails does not stop the plugin.
 *
 * @module
 */
import { asHostError, HostError, messageOf } from "../../errors/host_error.ts";
import type { Exit, Runtime } from "../../ports/ports.ts";
import { MAX_LINE_BYTES } from "../connection_types.ts";
import { parseLine } from "../codec.ts";
import { LineReader } from "../read_lines.ts";
import { hashTree } from "../../files/tree.ts";
import type { Manifest } from "../../manifest/manifest.ts";
import type { WireTap } from "../wire_tap.ts";
import { API_VERSION } from "../../values/version.ts";
import { secretFields, SecretKeeper } from "./secrets.ts";
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
  readonly runtime: Pick<Runtime, "files" | "clock" | "bytes">;
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
export function recordTape({ path, plugin, runtime, onFailure }: RecordOptions): Recording {
  const { files, clock, bytes } = runtime;
  const startedMs = clock.monotonic();
  const started = new Date(clock.now()).toISOString();
  const secrets = new SecretKeeper(secretFields(plugin.manifest));
  const writer = new TapeWriter(path, runtime, onFailure, async () => {
    const { plugin: name, version, dir, instance } = plugin;
    const hash = await hashTree(dir, files).then((tree) => tree.hash, () => null);
    const format = { format: TAPE_FORMAT, format_version: TAPE_VERSION };
    const header: TapeHeader = {
      ...format,
      plugin: name,
      version,
      hash,
      dir,
      instance,
      api_version: API_VERSION,
      started,
    };
    return `${JSON.stringify(header)}\n`;
  });
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

/** Appends what waits, one write at a time. */
class TapeWriter {
  readonly #path: string;
  readonly #files: Runtime["files"];
  readonly #onFailure: (error: HostError) => void;
  #waiting: string[] = [];
  #waitingLength = 0;
  #writing: Promise<void>;
  #isBusy = true;
  #hasFailed = false;

  constructor(
    path: string,
    { files }: Pick<Runtime, "files">,
    onFailure: (error: HostError) => void,
    head: () => Promise<string>,
  ) {
    this.#path = path;
    this.#files = files;
    this.#onFailure = onFailure;
    this.#writing = this.#begin(head).then(() => this.#drain()).catch((error) => this.#fail(error));
  }

  add(line: string): void {
    if (this.#hasFailed) return;
    this.#waiting.push(line);
    this.#waitingLength += line.length;
    if (this.#waitingLength > MAX_WAITING) {
      return this.#fail(new Error("Messages come faster than they can be written"));
    }
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#writing = this.#drain().catch((error) => this.#fail(error));
  }

  async flush(): Promise<void> {
    for (let writing; writing !== this.#writing;) await (writing = this.#writing);
  }

  async #begin(head: () => Promise<string>): Promise<void> {
    if (await this.#files.info(this.#path) !== null) {
      throw new HostError("tape.exists", `Cannot record to "${this.#path}": there is something already`, {
        data: { path: this.#path },
        hint: "Name a new file, or remove it first",
      });
    }
    await this.#files.write(this.#path, await head(), 0o600);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#hasFailed) {
      const text = this.#waiting.join("");
      this.#waiting = [];
      this.#waitingLength = 0;
      await this.#files.append(this.#path, text);
    }
    this.#isBusy = false;
  }

  #fail(thrown: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#waiting = [];
    if (thrown instanceof HostError) return this.#onFailure(asHostError(thrown));
    const message = `Cannot record to "${this.#path}": ${messageOf(thrown)}`;
    const hint = "Check the path, its permissions and the room on the disk; the plugin went on without it";
    this.#onFailure(new HostError("tape.unwritable", message, { data: { path: this.#path }, hint, cause: thrown }));
  }
}
