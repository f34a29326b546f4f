/**
 * A login at an MCP server elsewhere, by OAuth 2.1: the server's authorization server is discovered, the host is
 * registered there, a person agrees in a browser, and the tokens are kept in the home. The protocol itself is the
 * official SDK's.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { type RemoteTarget, remoteTarget } from "../manifest/remote_rules.ts";
import { isRemote } from "../manifest/speaks_mcp.ts";
import type { Runtime } from "../ports/ports.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import { unlessAborted } from "../values/unless_aborted.ts";
import { initializeParams } from "../mcp/messages.ts";
import { type CallbackServer, callbackServer } from "./callback_server.ts";
import {
  type Challenge,
  type ClientInformation,
  type ClientSdk,
  type Discovery,
  loadClientSdk,
  type OAuthPorts,
  type Tokens,
} from "./client_sdk.ts";
import type { DirectFetch } from "./direct_fetch.ts";
import { oauthFetch } from "./link_fetch.ts";
import { type Login, LoginStore, withTokens } from "./login_store.ts";

/** The plugin to log in for, and the person who does. */
export interface LogInOptions {
  readonly runtime: Runtime;
  readonly home: string;
  readonly manifest: Manifest;
  /** Value of the secret that `oauth.client_secret` names. */
  readonly clientSecret?: string | undefined;
  /** Shows a person the address where to agree. */
  readonly onAddress: (address: string) => void | Promise<void>;
  /** Gives the login up. */
  readonly signal: AbortSignal;
  readonly mask?: SecretMask;
}

/** A login that is kept. */
export interface LoggedIn {
  /** The authorization server. */
  readonly issuer: string;
  /** Scopes that it gave; null where it did not say. */
  readonly scope: string | null;
  /** Whether it can be renewed without a person. */
  readonly isRenewable: boolean;
}

/**
 * Logs in, and keeps the login in the home.
 *
 * @throws {HostError} `mcp.not_elsewhere`, `mcp.login_failed`, `mcp.elsewhere_refused` or `plugin.unreachable`.
 */
export async function logIn(options: LogInOptions): Promise<LoggedIn> {
  const { runtime, home, manifest, signal, mask = null } = options;
  const target = targetOf(manifest);
  const sdk = await loadClientSdk();
  const send = oauthFetch(runtime, target);
  const fetchFn: DirectFetch = (url, init = {}) => send(url, { ...init, signal: init.signal ?? signal });
  const store = new LoginStore({ runtime, home, plugin: manifest.name, url: target.url }, mask);
  const before = await store.read();
  await using callback = await listen(runtime, manifest, before);
  const challenge = await challengeOf(target.url, sdk, fetchFn);
  const scope = sdk.computeScopeUnion(challenge.scope, before?.wanted_scope);
  const flow = new Flow(options, callback.redirectUrl, usableClient(before?.client, callback.redirectUrl, scope));
  try {
    const known = before?.resource_metadata_url;
    const resourceMetadataUrl = challenge.resourceMetadataUrl ?? (known === undefined ? undefined : new URL(known));
    const at = { serverUrl: target.url, scope, resourceMetadataUrl, fetchFn };
    await sdk.auth(flow.ports, at);
    const answering = callback.answer(flow.state);
    await options.onAddress(flow.address(target));
    const { code, iss } = await unlessAborted(answering, signal);
    await sdk.auth(flow.ports, { ...at, authorizationCode: code, iss });
  } catch (error) {
    if (error instanceof HostError) throw error;
    signal.throwIfAborted();
    const message = `Cannot log in at the server of "${manifest.name}": ${messageOf(error)}`;
    throw new HostError("mcp.login_failed", message, { data: { plugin: manifest.name }, cause: error });
  }
  await store.hold(() => store.write(flow.outcome(runtime.clock.now())));
  const { issuer = "", scope: given = null, refresh_token } = flow.tokens!;
  return { issuer, scope: given, isRenewable: refresh_token !== undefined };
}

/** Removes the login of a plugin. Returns whether there was one. */
export async function logOut({ runtime, home, manifest }: Pick<LogInOptions, "runtime" | "home" | "manifest">): Promise<
  boolean
> {
  const { url } = targetOf(manifest);
  return await new LoginStore({ runtime, home, plugin: manifest.name, url }).remove();
}

function targetOf(manifest: Manifest): RemoteTarget {
  const target = isRemote(manifest) ? remoteTarget(manifest.url ?? "") : null;
  if (target) return target;
  throw new HostError("mcp.not_elsewhere", `"${manifest.name}" runs on this machine: there is nowhere to log in`, {
    data: { plugin: manifest.name },
    hint: "What it needs to know goes into its secrets: kaged secret set",
  });
}

/** A client that is registered with one address to come back to is used with that one, as long as its port is free. */
async function listen(runtime: Runtime, { oauth }: Manifest, before: Login | null): Promise<CallbackServer> {
  if (oauth?.redirect_port !== undefined) return await callbackServer(runtime, oauth.redirect_port).catch(portTaken);
  const known = before?.client?.redirect_uris?.[0];
  const port = known === undefined ? 0 : Number(new URL(known).port);
  return await callbackServer(runtime, port).catch(() => callbackServer(runtime, 0)).catch(portTaken);
}

function portTaken(cause: unknown): never {
  throw new HostError("mcp.login_failed", `Cannot listen for the browser: ${messageOf(cause)}`, {
    cause,
    hint: "End the program that has the port, or take redirect_port out of the manifest",
  });
}

/** A client of an earlier login, unless it was registered for another address to come back to, or for fewer scopes. */
function usableClient(
  client: ClientInformation | undefined,
  redirectUrl: string,
  scope: string | undefined,
): ClientInformation | null {
  if (client?.redirect_uris?.[0] !== redirectUrl) return null;
  const registered = client.scope?.split(" ");
  const isWide = registered === undefined || (scope?.split(" ") ?? []).every((one) => registered.includes(one));
  return isWide ? client : null;
}

/** Asks the server for nothing, without a token, to be told where to get one. */
async function challengeOf(url: string, sdk: ClientSdk, fetchFn: DirectFetch): Promise<Challenge> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams([]) });
  const accept = "application/json, text/event-stream";
  const requests: RequestInit[] = [
    { method: "GET", headers: { accept: "text/event-stream" } },
    { method: "POST", headers: { accept, "content-type": "application/json" }, body },
  ];
  for (const request of requests) {
    const response = await fetchFn(url, request);
    await response.body?.cancel();
    if (response.status === 401) return sdk.extractWWWAuthenticateParams(response);
  }
  return {};
}

/** One login on its way: what the SDK asks for, and what it hands over. */
class Flow {
  readonly ports: OAuthPorts;
  readonly state: string = randomText();
  tokens: Tokens | undefined;
  #client: ClientInformation | undefined;
  #discovery: Discovery | undefined;
  #address: URL | undefined;
  #verifier = "";

  constructor({ manifest, clientSecret }: LogInOptions, redirectUrl: string, known: ClientInformation | null) {
    const { oauth = {} } = manifest;
    const own = oauth.client_id === undefined ? undefined : {
      client_id: oauth.client_id,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    };
    this.ports = {
      redirectUrl,
      clientMetadata: {
        client_name: "kaged",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        application_type: "native",
        token_endpoint_auth_method: "none",
        ...(oauth.scopes && { scope: oauth.scopes.join(" ") }),
      },
      ...(oauth.client_metadata_url !== undefined && { clientMetadataUrl: oauth.client_metadata_url }),
      state: () => this.state,
      // A client is known to the server that registered it and to no other.
      clientInformation: (at) => this.#client ?? own ?? (known && known.issuer === at?.issuer ? known : undefined),
      saveClientInformation: (client) => this.#client = { redirect_uris: [redirectUrl], ...client },
      tokens: () => undefined,
      saveTokens: (tokens) => this.tokens = tokens,
      redirectToAuthorization: (url) => this.#address = url,
      saveCodeVerifier: (verifier) => this.#verifier = verifier,
      codeVerifier: () => this.#verifier,
      saveDiscoveryState: (state) => this.#discovery = state,
      discoveryState: () => this.#discovery,
    };
  }

  /** Returns the address for the browser: a server must not choose any program of this machine by its scheme. */
  address(server: RemoteTarget): string {
    const url = this.#address?.href ?? "";
    if (remoteTarget(url) !== null) return url;
    const message = `The server of ${server.host} leads the browser to an address that is not https`;
    throw new HostError("mcp.login_failed", message, { data: { url: url.slice(0, 200) } });
  }

  /** Returns the login as it is kept. */
  outcome(nowMs: number): Omit<Login, "url"> {
    return withTokens(
      { ...(this.#client && { client: this.#client }), ...(this.#discovery && { discovery: this.#discovery }) },
      this.tokens!,
      nowMs,
    );
  }
}

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
