/**
 * The token of a link: taken from the login of the plugin, renewed when it has ended, and asked of the operator when it
 * cannot be renewed.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Runtime } from "../ports/ports.ts";
import { defined } from "../values/plain_data.ts";
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
  /** Answer → token of its request: others may have a newer one by the time that it is refused. */
  readonly #used = new WeakMap<Response, string>();

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
    return (isOver ? await store.read() : login)?.tokens?.access_token;
  }

  /** Returns `send` as a function that remembers which token each answer is to. */
  watching(send: DirectFetch): DirectFetch {
    return async (url, init) => {
      const response = await send(url, init);
      const token = /^Bearer (.+)$/.exec(new Headers(init?.headers).get("authorization") ?? "")?.[1];
      if (token !== undefined) this.#used.set(response, token);
      return response;
    };
  }

  /** A server refuses the token: another is asked for. Rejects with `mcp.login_needed`. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const key = this.#secretHeader;
    if (key !== null) throw this.#refusedSecret(key);
    const { scope, resourceMetadataUrl } = this.#options.sdk.extractWWWAuthenticateParams(response);
    await this.#keepWanted({ scope, metadata: resourceMetadataUrl?.href });
    const used = this.#used.get(response);
    if (used === undefined) throw this.needed("nobody has logged in");
    await this.#renew(used, scope);
  }

  /** Keeps the scopes that a server asks for, and returns the error of a request that lacks them. */
  async tooNarrow(scope: string | undefined): Promise<HostError> {
    await this.#keepWanted({ scope });
    return this.needed(`it asks for more than the login gave${scope === undefined ? "" : `: ${scope}`}`, scope);
  }

  /** Keeps what a refusal says for the next login, which may be refused in fewer words. */
  async #keepWanted(
    { scope, metadata }: { readonly scope?: string | undefined; readonly metadata?: string | undefined },
  ): Promise<void> {
    const { store, sdk } = this.#options;
    if (scope === undefined && metadata === undefined) return;
    await store.hold(async () => {
      const { url: _, ...login } = await store.read() ?? {} as Login;
      const wanted_scope = sdk.computeScopeUnion(login.wanted_scope, login.tokens?.scope, scope);
      await store.write({ ...login, ...defined({ wanted_scope, resource_metadata_url: metadata }) });
    });
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
