/**
 * The requests of a link: to the server itself, with the operator's secrets in their fields, and to its authorization
 * server, without any.
 *
 * @module
 */
import type { CageRequest } from "../cage/cage.ts";
import { isPublic } from "../cage/net/address.ts";
import { literalAddress } from "../cage/net/judge_target.ts";
import { HostError } from "../errors/host_error.ts";
import { isThisMachine, type RemoteTarget, remoteTarget } from "../manifest/remote_rules.ts";
import type { Runtime } from "../ports/ports.ts";
import { type DirectFetch, directFetch, withoutQuery } from "./direct_fetch.ts";

/** Least time between two audit events of one place, as for plugins in cages. */
const AUDIT_MS = 60_000;

/** Sends requests to the server of a link. Each secret is read when it is sent, so that another one needs no restart. */
export function linkFetch(
  { manifest, secrets = [], onNet }: CageRequest,
  { runtime, gate }: { readonly runtime: Runtime; readonly gate: () => Promise<void> },
): DirectFetch {
  let auditedMs = -Infinity;
  const onOpened = ({ host, port }: RemoteTarget): void => {
    const nowMs = runtime.clock.monotonic();
    if (nowMs - auditedMs < AUDIT_MS) return;
    auditedMs = nowMs;
    onNet?.({ kind: "opened", host, port });
  };
  const send = directFetch(runtime, { onOpened, gate });
  return (url, init = {}) => {
    const headers = new Headers(init.headers);
    for (const { name, value } of secrets) {
      const { header, prefix = "" } = manifest.secrets?.[name] ?? {};
      const text = value();
      if (header === undefined || text === "") continue;
      if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) throw unfit(manifest.name, name);
      headers.set(header, `${prefix}${text}`);
    }
    return send(url, { ...init, headers });
  };
}

/**
 * Sends requests to authorization servers. A server out there must not send the host to a machine of a private network:
 * such addresses are used only where the server itself is at one.
 */
export function oauthFetch(runtime: Runtime, server: RemoteTarget): DirectFetch {
  const send = directFetch(runtime);
  const mayBePrivate = isPrivate(server.host);
  return (url, init) => {
    const target = remoteTarget(String(url));
    if (target === null || mayBePrivate || !isPrivate(target.host)) return send(url, init);
    const shown = withoutQuery(target.url);
    throw new HostError("mcp.elsewhere_refused", `The server leads the login to ${shown}, on a private network`, {
      data: { url: shown },
    });
  };
}

/** Whether a host names this machine, or an address of a private network. */
export function isPrivate(host: string): boolean {
  const address = literalAddress(host);
  return isThisMachine(host) || (address !== null && !isPublic(address));
}

function unfit(plugin: string, key: string): HostError {
  return new HostError("mcp.elsewhere_refused", `The secret ${key} holds a character that a field of HTTP cannot`, {
    data: { plugin, key },
    hint: `Set it anew, on one line: kaged secret set ${plugin} ${key}`,
  });
}
