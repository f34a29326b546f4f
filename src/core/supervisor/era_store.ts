/**
 * How each MCP server wants to be greeted, kept in the operator's folder with the hash of the server's files, so that a
 * server is probed once. A verdict that is lost costs one more probe, and one that is wrong is found out by the greeting.
 *
 * @module
 */
import type { McpEra } from "../mcp/messages.ts";
import type { Files, Ids } from "../ports/ports.ts";

/** Verdicts that are kept; beyond that the oldest go. */
const MAX_KEPT = 500;

/** The verdicts in one home. */
export class EraStore {
  readonly #dir: string;
  readonly #ports: { readonly files: Files; readonly ids: Ids };

  /** Keeps them in the folder `mcp_eras` of `home`. */
  constructor(home: string, ports: { readonly files: Files; readonly ids: Ids }) {
    this.#dir = `${home}/mcp_eras`;
    this.#ports = ports;
  }

  /** Returns the verdict for the files with that hash, or null. */
  async read(hash: string): Promise<McpEra | null> {
    const text = await this.#ports.files.readText(this.#file(hash)).catch(() => "");
    return text === "modern" || text === "legacy" ? text : null;
  }

  /** Keeps a verdict. A home that cannot be written keeps none: the server is probed at its next start. */
  async keep(hash: string, era: McpEra): Promise<void> {
    const { files, ids } = this.#ports;
    const fresh = `${this.#file(hash)}.${ids.create("kaged")}`;
    try {
      await files.makeDir(this.#dir, { recursive: true, mode: 0o700 });
      await this.#makeRoom();
      await files.write(fresh, era);
      await files.rename(fresh, this.#file(hash));
    } catch {
      await files.remove(fresh).catch(() => {});
    }
  }

  /** Drops a verdict that has proved wrong. */
  async forget(hash: string): Promise<void> {
    await this.#ports.files.remove(this.#file(hash)).catch(() => {});
  }

  #file(hash: string): string {
    return `${this.#dir}/${hash.replace(/[^0-9a-z]/g, "_")}`;
  }

  async #makeRoom(): Promise<void> {
    const { files } = this.#ports;
    const names = await files.list(this.#dir);
    if (names.length < MAX_KEPT) return;
    const aged = await Promise.all(names.map(async (name) => {
      const path = `${this.#dir}/${name}`;
      return { path, modifiedMs: (await files.info(path))?.modifiedMs ?? 0 };
    }));
    aged.sort((a, b) => a.modifiedMs - b.modifiedMs);
    for (const { path } of aged.slice(0, names.length - MAX_KEPT + 1)) await files.remove(path);
  }
}
