/**
 * The token of a link: taken from the login of the plugin, renewed when it has ended, and asked of the operator when it
 * cannot be renewed.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Runtime } from "../ports/ports.ts";
import type { AuthProvider, ClientSdk, Tokens } from "./client_sdk.ts";
import type { DirectFetch } from "./direct_fetch.ts";
import { type Login, type LoginStore, withTokens } from "./login_store.ts";

/** The parts of a link's authorization. */
export interface LinkAuthOptions {
  readonly runtime: Runtime;
  readonly manifest: Manifest;
  readonly sdk: ClientSdk;
  readonly store: LoginStore;
  /** Sends requests to authorization servers. */
  readonly fetch: DirectFetch;
}

/** Gives the requests of one link their tokens. */
export class LinkAuth implements AuthProvider {
  readonly #options: LinkAuthOptions;
  #used: string | undefined;

  constructor(options: LinkAuthOptions) {
    this.#options = options;
  }

  /** The token of the next request; undefined when nobody has logged in. */
  async token(): Promise<string | undefined> {
    if (this.#secretHeader !== null) return undefined;
    const { store, runtime: { clock } } = this.#options;
    const login = await store.read();
    const isOver = (login?.expires_ms ?? Infinity) <= clock.now();
    // Renewed before it is refused, as some servers refuse it in words of their own.
    if (isOver && login?.tokens?.refresh_token !== undefined) await this.#renew(login.tokens.access_token);
    this.#used = (isOver ? await store.read() : login)?.tokens?.access_token;
    return this.#used;
  }

  /** A server refuses the token: another is asked for. Rejects with `mcp.login_needed`. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const key = this.#secretHeader;
    if (key !== null) throw this.#refusedSecret(key);
    if (this.#used === undefined) throw this.needed("nobody has logged in");
    const { scope } = this.#options.sdk.extractWWWAuthenticateParams(response);
    await this.#renew(this.#used, scope);
  }

  /** Keeps the scopes that a server asks for, and returns the error of a request that lacks them. */
  async tooNarrow(scope: string | undefined): Promise<HostError> {
    const { store, sdk } = this.#options;
    if (scope !== undefined) {
      await store.hold(async () => {
        const { url: _, ...login } = await store.read() ?? {} as Login;
        const wanted_scope = sdk.computeScopeUnion(login.wanted_scope, login.tokens?.scope, scope);
        await store.write({ ...login, ...(wanted_scope !== undefined && { wanted_scope }) });
      });
    }
    return this.needed(`it asks for more than the login gave${scope === undefined ? "" : `: ${scope}`}`, scope);
  }

  /** Returns the error of a server that a person must log in at. */
  needed(reason: string, scope?: string): HostError {
    const { name, url } = this.#options.manifest;
    return new HostError("mcp.login_needed", `The server of "${name}" does not let the host in: ${reason}`, {
      data: { plugin: name, url: url?.split("?", 1)[0], ...(scope !== undefined && { scope }) },
      hint: `Run kaged mcp login ${name}`,
    });
  }

  /** The key of the secret that is sent as `Authorization`: then there is no login. */
  get #secretHeader(): string | null {
    const { secrets = {}, headers = {} } = this.#options.manifest;
    const isIt = (name: string | undefined): boolean => name?.toLowerCase() === "authorization";
    if (Object.keys(headers).some(isIt)) return "";
    return Object.entries(secrets).find(([, { header }]) => isIt(header))?.[0] ?? null;
  }

  #refusedSecret(key: string): HostError {
    const { name } = this.#options.manifest;
    const what = key === "" ? "the field Authorization of the manifest" : `the secret ${key}`;
    return new HostError("mcp.login_needed", `The server of "${name}" refuses ${what}`, {
      data: { plugin: name, ...(key !== "" && { key }) },
      hint: key === "" ? "Correct headers in the manifest" : `Set another one: kaged secret set ${name} ${key}`,
    });
  }

  /** Gets another token in the place of `used`, unless another host has done so. */
  async #renew(used: string, scope?: string): Promise<void> {
    const { store, runtime: { clock } } = this.#options;
    await store.hold(async () => {
      const login = await store.read();
      if (login?.tokens && login.tokens.access_token !== used) return;
      if (!login?.tokens?.refresh_token || !login.client || !login.discovery) {
        throw this.needed("the login has ended, and cannot be renewed", scope);
      }
      const tokens = await this.#refreshed({ ...login, tokens: login.tokens });
      const { url: _, ...kept } = login;
      if (tokens !== null) return await store.write(withTokens(kept, tokens, clock.now()));
      const { tokens: _tokens, expires_ms: _expires, ...rest } = kept;
      await store.write(rest);
      throw this.needed("the login was revoked, or has ended", scope);
    });
  }

  /** Returns new tokens; null when the authorization server refuses the old ones for good. */
  async #refreshed(
    { tokens: { refresh_token = "", scope }, client, discovery }: Login & { readonly tokens: Tokens },
  ): Promise<Tokens | null> {
    const { sdk, fetch } = this.#options;
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery!;
    const resource = resourceMetadata?.resource;
    try {
      const fresh = await sdk.refreshAuthorization(authorizationServerUrl, {
        ...(metadata && { metadata }),
        clientInformation: client!,
        refreshToken: refresh_token,
        ...(resource !== undefined && { resource }),
        fetchFn: fetch,
      });
      return { ...(scope !== undefined && { scope }), ...fresh };
    } catch (error) {
      if (error instanceof HostError) throw error;
      if (/^(?:invalid_grant|invalid_client|unauthorized_client)$/.test(String((error as { code?: unknown }).code))) {
        return null;
      }
      throw new HostError("plugin.unreachable", `The login could not be renewed: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}
