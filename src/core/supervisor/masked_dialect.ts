/**
 * A dialect whose failures hold no secret: a plugin that refuses its config may quote it.
 *
 * @module
 */
import { asHostError, HostError } from "../errors/host_error.ts";
import { defined } from "../values/plain_data.ts";
import type { McpPeer } from "../mcp/peer.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type { Dialect } from "./dialect.ts";

/** Returns `dialect` with the secrets hidden in every error it rejects with. Results pass as they are: they are data. */
export function maskedDialect(dialect: Dialect, secrets: SecretMask): Dialect {
  // Without secrets a call costs no promise more.
  const masked = <T>(answer: Promise<T>): Promise<T> =>
    secrets.isEmpty ? answer : answer.catch((thrown) => Promise.reject(maskedError(thrown, secrets)));
  return {
    ...dialect,
    handshake: (options) => masked(dialect.handshake(options)),
    call(method, params, context, options, end) {
      if (end === undefined) return masked(dialect.call(method, params, context, options));
      return dialect.call(
        method,
        params,
        context,
        options,
        secrets.isEmpty ? end : {
          ok: (result) => end.ok(result),
          failed: (thrown) => end.failed(maskedError(thrown, secrets)),
        },
      );
    },
    updateConfig: (config) => masked(dialect.updateConfig(config)),
    ...(dialect.peer && { peer: maskedPeer(dialect.peer, masked) }),
  };
}

function maskedPeer(peer: McpPeer, masked: <T>(answer: Promise<T>) => Promise<T>): McpPeer {
  return {
    get info() {
      return peer.info;
    },
    resources: () => masked(peer.resources()),
    templates: () => masked(peer.templates()),
    prompts: () => masked(peer.prompts()),
    readResource: (uri, options) => masked(peer.readResource(uri, options)),
    getPrompt: (name, args, options) => masked(peer.getPrompt(name, args, options)),
    complete: (params, options) => masked(peer.complete(params, options)),
    subscribe: (uri) => masked(peer.subscribe(uri)),
    unsubscribe: (uri) => masked(peer.unsubscribe(uri)),
    setLogLevel: (level) => masked(peer.setLogLevel(level)),
    rootsChanged: () => peer.rootsChanged(),
  };
}

/** Returns the error itself where it holds no secret, else one without. */
export function maskedError(thrown: unknown, secrets: SecretMask): HostError {
  const error = asHostError(thrown);
  const { message, data, hint } = error;
  const hidden = secrets.value({ message, ...defined({ data, hint }) });
  const isSame = hidden.message === message && hidden.data === data && hidden.hint === hint;
  if (isSame) return error;
  const { message: text, ...rest } = hidden;
  return new HostError(error.code, text, {
    ...rest,
    rpc: error.rpc,
    ...(error.cause !== undefined && { cause: error.cause }),
  });
}
