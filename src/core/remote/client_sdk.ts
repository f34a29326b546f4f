/**
 * The client half of the official MCP SDK, loaded with the first link to a server elsewhere. Its parts that are used here
 * are spelled out: not every runtime can read the types of the SDK.
 *
 * @module
 */
import { sdkMissing } from "../mcp/load_sdk.ts";
import type { DirectFetch } from "./direct_fetch.ts";

/** A message of MCP, as JSON has it. */
export interface RpcMessage {
  readonly jsonrpc: "2.0";
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** How one message is sent. */
export interface SendOptions {
  /** Ends the request, and the stream of its answer. */
  readonly requestSignal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the answer has come to its end with nothing more to wait for. */
  readonly onRequestStreamEnd?: () => void;
}

/** Streamable HTTP, the client's side: sessions, streams and their resumption. */
export interface HttpTransport {
  readonly sessionId: string | undefined;
  start(): Promise<void>;
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  close(): Promise<void>;
  terminateSession(): Promise<void>;
  setProtocolVersion(version: string): void;
  onmessage?: (message: RpcMessage) => void;
  onerror?: (error: Error) => void;
}

/** Gives each request its token, and gets another when a server refuses it. */
export interface AuthProvider {
  token(): Promise<string | undefined>;
  onUnauthorized(context: { readonly response: Response }): Promise<void>;
}

/** A client as an authorization server knows it (RFC 7591). */
export interface ClientInformation {
  readonly client_id: string;
  readonly client_secret?: string;
  /** The server it is registered at. */
  readonly issuer?: string;
  readonly redirect_uris?: readonly string[];
  /** Scopes that it may ask for; absent: any. */
  readonly scope?: string;
}

/** Tokens as an authorization server gave them (RFC 6749). */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
  readonly issuer?: string;
}

/** The authorization server of a resource, as discovery found it. */
export interface Discovery {
  readonly authorizationServerUrl: string;
  readonly authorizationServerMetadata?: { readonly issuer?: string };
  readonly resourceMetadata?: { readonly resource?: string };
}

/** The ports of the SDK's login: it keeps nothing itself. */
export interface OAuthPorts {
  readonly redirectUrl: string;
  readonly clientMetadata: Readonly<Record<string, unknown>>;
  readonly clientMetadataUrl?: string;
  state(): string;
  clientInformation(at?: { readonly issuer: string }): ClientInformation | undefined;
  saveClientInformation(client: ClientInformation): void;
  tokens(): undefined;
  saveTokens(tokens: Tokens): void;
  redirectToAuthorization(url: URL): void;
  saveCodeVerifier(verifier: string): void;
  codeVerifier(): string;
  saveDiscoveryState(state: Discovery): void;
  discoveryState(): Discovery | undefined;
}

/** A refusal in the `WWW-Authenticate` field of an answer (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  readonly error?: string;
}

/** The parts of the SDK that are used. */
export interface ClientSdk {
  readonly StreamableHTTPClientTransport: new (url: URL, options: {
    readonly fetch: DirectFetch;
    readonly authProvider: AuthProvider;
    readonly requestInit?: { readonly headers: Readonly<Record<string, string>> };
    readonly onInsufficientScope: "throw";
    readonly reconnectionScheduler: (run: () => void, delayMs: number) => () => void;
  }) => HttpTransport;
  readonly auth: (ports: OAuthPorts, options: {
    readonly serverUrl: string;
    readonly scope?: string | undefined;
    readonly resourceMetadataUrl?: URL | undefined;
    readonly authorizationCode?: string;
    readonly iss?: string | undefined;
    readonly fetchFn: DirectFetch;
  }) => Promise<"AUTHORIZED" | "REDIRECT">;
  readonly refreshAuthorization: (authorizationServerUrl: string, options: {
    readonly metadata?: Discovery["authorizationServerMetadata"];
    readonly clientInformation: ClientInformation;
    readonly refreshToken: string;
    readonly resource?: string;
    readonly fetchFn: DirectFetch;
  }) => Promise<Tokens>;
  readonly extractWWWAuthenticateParams: (response: Response) => Challenge;
  readonly computeScopeUnion: (...scopes: readonly (string | undefined)[]) => string | undefined;
}

/** Loads the SDK. Rejects with `mcp.sdk_missing`. */
export async function loadClientSdk(): Promise<ClientSdk> {
  const name = "@modelcontextprotocol/client";
  return await import("@modelcontextprotocol/client").catch(sdkMissing(name)) as unknown as ClientSdk;
}
