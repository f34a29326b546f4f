/**
 * A link to an MCP server elsewhere: it carries the lines of a conversation over HTTP, in the place of the pipes of a
 * process. Sessions, streams and their resumption are those of the official SDK; the bounds, the addresses and the
 * secrets are the host's.
 *
 * @module
 */
import type { CageRequest } from "../cage/cage.ts";
import type { CagedEnd, CagedProcess } from "../cage/caged_process.ts";
import { stderrTail } from "../cage/stderr_tail.ts";
import { HostError, messageOf } from "../errors/host_error.ts";
import { remoteTarget } from "../manifest/remote_rules.ts";
import { withheldHint } from "../manifest/withheld.ts";
import type { Exit, Runtime } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import { permits } from "../values/permits.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import { type HttpTransport, loadClientSdk, type RpcMessage } from "./client_sdk.ts";
import { LinkAuth } from "./link_auth.ts";
import { linkFetch, oauthFetch } from "./link_fetch.ts";
import { LoginStore } from "./login_store.ts";
import { ParamHeaders } from "./param_headers.ts";
import { answeredError, failureOf, isScopeFailure } from "./send_failure.ts";

/** Listeners of a link: those of a caged program, and the mask that learns the tokens of the login. */
export interface LinkOptions {
  readonly runtime: Runtime;
  readonly secrets: SecretMask;
  readonly onStdout: (chunk: Uint8Array) => void;
  readonly onLog?: (line: string) => void;
  readonly onExit?: () => void;
}

/** Requests that are on their way at the same time; streams of notifications do not count. */
const MAX_REQUESTS = 32;
/** Time for the server to hear that its session is over. */
const GOODBYE_MS = 2_000;
/** Bounds of the time before a stream that has ended is opened again, whatever the server asks for. */
const LEAST_RETRY_MS = 250;
const MOST_RETRY_MS = 3_600_000;
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/**
 * Opens a link; nothing is sent yet. Rejects with `mcp.sdk_missing`, or with `mcp.elsewhere_refused` where the operator
 * withholds the server's address.
 */
export async function openLink(request: CageRequest, options: LinkOptions): Promise<RemoteLink> {
  const { manifest } = request;
  const target = remoteTarget(manifest.url ?? "");
  const grant = `net:${target?.host}:${target?.port}`;
  if (target === null || !manifest.capabilities.includes(grant)) {
    throw new HostError("mcp.elsewhere_refused", `"${manifest.name}" may not be connected to ${grant.slice(4)}`, {
      data: { plugin: manifest.name, capability: grant },
      hint: withheldHint(manifest.name, [grant]),
    });
  }
  const sdk = await loadClientSdk();
  const { runtime, secrets } = options;
  const flow = new Flow();
  const place = { runtime, home: request.places.home, plugin: manifest.name, url: target.url };
  const store = new LoginStore(place, secrets);
  const auth = new LinkAuth({ runtime, manifest, sdk, store, fetch: oauthFetch(runtime, target) });
  const transport = new sdk.StreamableHTTPClientTransport(new URL(target.url), {
    fetch: auth.watching(linkFetch(request, { runtime, gate: () => flow.isOpen })),
    authProvider: auth,
    ...(manifest.headers && { requestInit: { headers: manifest.headers } }),
    onInsufficientScope: "throw",
    reconnectionScheduler: (run, delayMs) =>
      runtime.clock.after(Math.min(Math.max(delayMs, LEAST_RETRY_MS), MOST_RETRY_MS), run),
  });
  await transport.start();
  return new RemoteLink(transport, { ...options, auth, flow, url: target.url });
}

/** Whether answers are read just now. */
class Flow {
  #gate: PromiseWithResolvers<void> | null = null;

  get isOpen(): Promise<void> {
    return this.#gate?.promise ?? Promise.resolve();
  }

  pause(): void {
    this.#gate ??= Promise.withResolvers();
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = null;
  }
}

interface LinkParts extends LinkOptions {
  readonly auth: LinkAuth;
  readonly flow: Flow;
  readonly url: string;
}

/** A request that waits for its answer. */
interface Pending {
  readonly method: string;
  readonly abort: AbortController;
}

/** A link that stands; the same shape as a program in its cage. */
export class RemoteLink implements Pick<CagedProcess, "pipes" | "exited" | "ended" | "stderr" | "terminate" | "kill"> {
  readonly pid: null = null;
  readonly cage: null = null;
  readonly pipes: CagedProcess["pipes"];
  readonly exited: Promise<CagedEnd>;
  readonly ended: Promise<CagedEnd>;
  readonly #transport: HttpTransport;
  readonly #parts: LinkParts;
  readonly #end = Promise.withResolvers<CagedEnd>();
  readonly #log: (line: string) => void;
  readonly #tail: ReturnType<typeof stderrTail>;
  readonly #pending = new Map<number | string, Pending>();
  readonly #params = new ParamHeaders();
  readonly #inTurn = permits(MAX_REQUESTS);
  /** Failures of single requests, by the mark that stands in the answer the wire gets. */
  readonly #failures = new Map<string, HostError>();
  /** With its end the SDK opens the standing stream, over which a server may ask its first question. */
  #greeting: Promise<void> = Promise.resolve();
  #marks = 0;
  #hasAnswered = false;
  #isOver = false;

  /** Called by {@link openLink}. */
  constructor(transport: HttpTransport, parts: LinkParts) {
    const { onLog = () => {}, flow } = parts;
    this.#transport = transport;
    this.#parts = parts;
    this.#tail = stderrTail(onLog);
    this.#log = (line) => this.#tail.receive(new TextEncoder().encode(`${line.replaceAll("\n", " ")}\n`));
    this.exited = this.ended = this.#end.promise;
    this.pipes = {
      write: (text) => this.#write(text),
      bufferedBytes: () => 0,
      pause: () => flow.pause(),
      resume: () => flow.resume(),
      endInput: () => void this.#leave(),
    };
    transport.onmessage = (message) => this.#receive(message);
    transport.onerror = (error) => {
      if (!this.#isOver && this.#pending.size === 0) this.#log(`link: ${messageOf(error)}`);
    };
  }

  /** The newest lines about the link itself, oldest first. */
  stderr(): readonly string[] {
    return this.#tail.lines();
  }

  /** Returns the failure behind an answer that the link gave in the place of the server; any other error as it is. */
  explain(error: HostError): HostError {
    const { data } = error;
    const mark = isMap(data) ? data.link_failure : undefined;
    const failure = typeof mark === "string" ? this.#failures.get(mark) : undefined;
    if (failure) this.#failures.delete(mark as string);
    return failure ?? error;
  }

  /** Ends the session, then the link. */
  async terminate(): Promise<boolean> {
    if (this.#isOver) return false;
    await this.#leave();
    return true;
  }

  /** Ends the link at once. */
  kill(): Promise<CagedEnd> {
    this.#finish({ code: null, signal: "SIGKILL" }, null);
    return this.ended;
  }

  async #leave(): Promise<void> {
    if (this.#isOver) return;
    const cancel = this.#parts.runtime.clock.after(GOODBYE_MS, () => this.#finish({ code: 0, signal: null }, null));
    await this.#transport.terminateSession().catch(() => {}); // The server forgets it by itself, in its own time.
    cancel();
    this.#finish({ code: 0, signal: null }, null);
  }

  #finish(exit: Exit, fault: HostError | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.flow.resume();
    for (const { abort } of this.#pending.values()) abort.abort();
    void this.#transport.close().catch(() => {});
    this.#parts.onExit?.();
    this.#end.resolve({ exit, fault, stderr: this.#tail.lines() });
  }

  #write(text: string): void {
    if (this.#isOver) return;
    for (const line of text.split("\n")) if (line !== "") void this.#send(JSON.parse(line) as RpcMessage);
  }

  async #send(message: RpcMessage): Promise<void> {
    const { id, method, params } = message;
    if (method === "notifications/cancelled") return await this.#cancel(message);
    const isRequest = id !== undefined && method !== undefined;
    const abort = new AbortController();
    if (isRequest) this.#pending.set(id, { method, abort });
    const isModern = typeof (isMap(params?._meta) ? params._meta : {})[VERSION_KEY] === "string";
    const send = () =>
      this.#transport.send(message, {
        requestSignal: abort.signal,
        ...(isModern && method === "tools/call" && { headers: this.#params.of(params?.name, params?.arguments) }),
        ...(isRequest && { onRequestStreamEnd: () => this.#unanswered(id) }),
      });
    try {
      if (method === "notifications/initialized") return await (this.#greeting = send());
      await this.#greeting.catch(() => {}); // Its failure is its own.
      await (method === "subscriptions/listen" ? send() : this.#inTurn(send));
    } catch (error) {
      if (abort.signal.aborted || this.#isOver) return;
      await this.#failed(message, error);
    }
  }

  /** The stream of a request is its own in newer revisions: ending it cancels the request, and nothing is sent. */
  async #cancel(message: RpcMessage): Promise<void> {
    const requestId = message.params?.requestId as number | string;
    const pending = this.#pending.get(requestId);
    this.#pending.delete(requestId);
    if (this.#transport.sessionId !== undefined || this.#isLegacy) {
      await this.#transport.send(message).catch(() => {}); // Nobody waits for it.
    }
    pending?.abort.abort();
  }

  /** Whether the server has answered `initialize`. */
  #isLegacy = false;

  #receive(message: RpcMessage): void {
    if (this.#isOver) return;
    this.#hasAnswered = true;
    const { id, method } = message;
    const pending = method === undefined && id !== undefined ? this.#pending.get(id) : undefined;
    if (pending) this.#pending.delete(id!);
    if (pending?.method === "initialize" && isMap(message.result)) {
      this.#isLegacy = true;
      const { protocolVersion } = message.result;
      if (typeof protocolVersion === "string") this.#transport.setProtocolVersion(protocolVersion);
    }
    this.#deliver(pending?.method === "tools/list" && !this.#isLegacy ? this.#checkedTools(message) : message);
  }

  /** Learns the fields that tools want repeated, and takes out the tools that ask for it wrongly. */
  #checkedTools(message: RpcMessage): RpcMessage {
    const { result } = message;
    if (!isMap(result) || !Array.isArray(result.tools)) return message;
    const { tools, faults } = this.#params.learn(result.tools);
    for (const fault of faults) this.#log(`link: ${fault}`);
    return faults.length === 0 ? message : { ...message, result: { ...result, tools } };
  }

  #deliver(message: RpcMessage): void {
    this.#parts.onStdout(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  #unanswered(id: number | string): void {
    const pending = this.#pending.get(id);
    if (!pending || this.#isOver) return;
    const message = `The server ended its answer to "${pending.method}" without a result`;
    this.#answer(id, new HostError("plugin.unreachable", message));
  }

  async #failed(message: RpcMessage, thrown: unknown): Promise<void> {
    const { id, method = "" } = message;
    const { auth, url } = this.#parts;
    const own = isScopeFailure(thrown)
      ? {
        error: await auth.tooNarrow(thrown.requiredScope),
        isEnd: !this.#hasAnswered,
        isOutage: false,
        hasStatus: true,
      }
      : failureOf(thrown, { url, hasSession: this.#transport.sessionId !== undefined, auth });
    // Servers of the older revisions refuse that question in words of their own, failures of theirs among them.
    const isProbe = method === "server/discover" && own.hasStatus;
    if (own.isEnd || (!this.#hasAnswered && own.isOutage && !isProbe)) {
      return this.#finish({ code: 1, signal: null }, own.error);
    }
    if (id === undefined || method === "") return this.#log(`link: ${own.error.message}`);
    const body = answeredError(thrown);
    if (body === null) return this.#answer(id, own.error);
    this.#pending.delete(id);
    this.#deliver({ jsonrpc: "2.0", id, error: body });
  }

  /** Answers a request in the place of the server; {@link explain} gives the caller the error itself. */
  #answer(id: number | string, error: HostError): void {
    this.#pending.delete(id);
    const mark = `${crypto.randomUUID()}-${this.#marks++}`;
    this.#failures.set(mark, error);
    this.#deliver({
      jsonrpc: "2.0",
      id,
      error: { code: error.rpc, message: error.message, data: { link_failure: mark } },
    });
  }
}
