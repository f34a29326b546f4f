/**
 * Hooks that post the event to a web server. The operator names the hosts that hooks may reach; the request goes out by
 * the rules of the gatekeeper, which no name of a private network passes.
 *
 * @module
 */
import { judgeTarget } from "../../../core/cage/net/judge_target.ts";
import { HostError } from "../../../core/errors/host_error.ts";
import { readCapabilities } from "../../../core/manifest/capability.ts";
import { remoteTarget } from "../../../core/manifest/remote_rules.ts";
import type { Runtime } from "../../../core/ports/ports.ts";
import { directFetch } from "../../../core/remote/direct_fetch.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import type { HookAction } from "../../files/types.ts";

type Request = Extract<HookAction, { readonly type: "http" }>;

/** Posts an event, as JSON, and returns the answer. */
export type PostEvent = (request: Request, event: string, signal: AbortSignal) => Promise<Posted>;

/** The answer of a server, not yet understood. */
export interface Posted {
  readonly status: number;
  readonly text: string;
}

/** Bytes of an answer: a decision is small. */
const MAX_BYTES = 1024 * 1024;

/** Returns why a request may not go out, or null: the operator names each host, with its port. */
export function requestProblem({ url }: Pick<Request, "url">, network: readonly string[]): string | null {
  const target = remoteTarget(url);
  if (target === null) return `${url} is neither https nor a server on this machine`;
  const rules = readCapabilities(network.map((host) => `net:${host}`)).filter((one) =>
    one.kind === "net" && one.scope === "host"
  );
  const judged = judgeTarget(target.host, target.port, rules as Parameters<typeof judgeTarget>[2]);
  if (!("refused" in judged)) return null;
  return `network of [hooks] in config.toml does not name "${target.host}:${target.port}"`;
}

/** Returns the sender of events. `handed` are the variables that the operator hands on to hooks. */
export function eventPoster(
  runtime: Runtime,
  { network, handed }: { readonly network: readonly string[]; readonly handed: Readonly<Record<string, string>> },
): PostEvent {
  const send = directFetch(runtime);
  return async (request, event, signal) => {
    const problem = requestProblem(request, network);
    if (problem !== null) throw new HostError("hook.command_failed", problem);
    const headers = { "content-type": "application/json", ...filledHeaders(request, handed) };
    const response = await send(request.url, { method: "POST", headers, body: event.trim(), signal });
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let [text, size] = ["", 0];
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      size += part.value.length;
      if (size > MAX_BYTES) {
        throw new HostError("hook.output_too_large", `${request.url} answered with more than 1 MiB`);
      }
      text += decoder.decode(part.value, { stream: true });
    }
    return { status: response.status, text: text + decoder.decode() };
  };
}

/** Returns the output in an answer, or why it is none: a status cannot block, and a body that is no JSON says nothing. */
export function readPosted({ status, text }: Posted): { readonly text: string } | { readonly problem: string } {
  if (status < 200 || status > 299) return { problem: `the server answered with status ${status}` };
  if (text.trim() === "") return { text: "" };
  try {
    if (isMap(JSON.parse(text))) return { text };
  } catch {
    // Said below.
  }
  return { problem: "the server's answer is no JSON object" };
}

/** Variables stand for themselves only where the file lists them and the operator hands them on; others are empty. */
function filledHeaders(
  { headers, allowedEnvVars }: Request,
  handed: Readonly<Record<string, string>>,
): Record<string, string> {
  const value = (name: string): string =>
    allowedEnvVars.includes(name) && Object.hasOwn(handed, name) ? handed[name]! : "";
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [
      name,
      text.replace(/\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g, (_, braced, bare) => value(braced ?? bare)).replace(
        /[\r\n]/g,
        "",
      ),
    ]),
  );
}
