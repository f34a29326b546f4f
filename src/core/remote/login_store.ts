/**
 * Logins at MCP servers elsewhere, one file for each plugin in `logins/` of the home, which only the operator may read.
 * Several hosts share it: whoever renews a token holds the lock of the file.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { openFileLock } from "../files/file_lock.ts";
import type { Runtime } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type { ClientInformation, Discovery, Tokens } from "./client_sdk.ts";

/** The login of one plugin. */
export interface Login {
  /** Address of the server that it is for: a plugin whose address has changed has no login. */
  readonly url: string;
  readonly client?: ClientInformation;
  readonly discovery?: Discovery;
  readonly tokens?: Tokens;
  /** When the token ends, in ms since 1970; absent where the server did not say. */
  readonly expires_ms?: number;
  /** Scopes that the server has asked for since, for the next login. */
  readonly wanted_scope?: string;
}

/** Longest that a process may wait for another one to renew a token. */
const WAIT_MS = 30_000;

/** The logins of one plugin at one address. */
export class LoginStore {
  readonly #runtime: Runtime;
  readonly #dir: string;
  readonly #file: string;
  readonly #url: string;
  readonly #mask: SecretMask | null;

  /** `mask` learns each token before anything is sent. */
  constructor(
    { runtime, home, plugin, url }: {
      readonly runtime: Runtime;
      readonly home: string;
      readonly plugin: string;
      readonly url: string;
    },
    mask: SecretMask | null = null,
  ) {
    this.#runtime = runtime;
    this.#dir = `${home}/logins`;
    this.#file = `${this.#dir}/${plugin}.json`;
    this.#url = url;
    this.#mask = mask;
  }

  /** Returns the login, or null when there is none for this address. */
  async read(): Promise<Login | null> {
    const { files } = this.#runtime;
    if (await files.info(this.#file) === null) return null;
    const login: unknown = await files.readText(this.#file).then(JSON.parse).catch(() => null);
    if (!isMap(login) || login.url !== this.#url) return null;
    const { tokens, client } = login as unknown as Login;
    this.#mask?.learn("login", [tokens?.access_token, tokens?.refresh_token, client?.client_secret]);
    return login as unknown as Login;
  }

  /** Writes the login in one step. Call it within {@link hold}. */
  async write(login: Omit<Login, "url">): Promise<void> {
    const { files, ids } = this.#runtime;
    this.#mask?.learn("login", [login.tokens?.access_token, login.tokens?.refresh_token, login.client?.client_secret]);
    const fresh = `${this.#file}.${ids.create("new")}`;
    await files.write(fresh, `${JSON.stringify({ ...login, url: this.#url }, null, 2)}\n`, 0o600);
    await files.sync(fresh);
    await files.rename(fresh, this.#file);
  }

  /** Removes the login. Returns whether there was one, for whatever address. */
  async remove(): Promise<boolean> {
    const { files } = this.#runtime;
    if (await files.info(this.#file) === null) return false;
    await this.hold(() => files.remove(this.#file));
    return true;
  }

  /** Runs `work` while no other process, and no other call of this one, changes the login. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    await this.#runtime.files.makeDir(this.#dir, { recursive: true, mode: 0o700 });
    const busy = (): HostError =>
      new HostError("mcp.login_failed", `Another process holds the login in "${this.#file}"`, { hint: "Try again" });
    const lock = openFileLock(`${this.#file}.lock`, this.#runtime, { waitMs: WAIT_MS, busy, stepMs: 0 });
    try {
      return await lock.hold(work);
    } finally {
      await lock.close();
    }
  }
}

/** Returns a login with new tokens in it. */
export function withTokens(login: Omit<Login, "url">, tokens: Tokens, nowMs: number): Omit<Login, "url"> {
  const { expires_ms: _, ...rest } = login;
  const { expires_in } = tokens;
  return { ...rest, tokens, ...(expires_in !== undefined && { expires_ms: nowMs + expires_in * 1000 }) };
}
