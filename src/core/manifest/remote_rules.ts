/**
 * Checks the fields of an MCP server elsewhere: its address, the HTTP fields it is sent, and its login. They stand with
 * `runtime: mcp_http` alone, and fields of a process never do.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { itemsOf } from "./listed_items.ts";
import { canonicalHost } from "./net_host.ts";

type Data = Record<string, unknown>;

/** Where an MCP server elsewhere is. */
export interface RemoteTarget {
  readonly url: string;
  readonly isSecure: boolean;
  /** In canonical form, as network grants name it. */
  readonly host: string;
  readonly port: number;
}

/** Fields that the protocol, or HTTP itself, needs for its own ends. */
const RESERVED =
  /^(?:mcp-.*|accept|connection|content-.*|cookie|expect|host|keep-alive|last-event-id|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Field → why a server elsewhere has no use for it. */
const NOT_ELSEWHERE: Readonly<Record<string, string>> = {
  command: "Nothing runs on this machine: the server is at its url",
  env: "Nothing runs on this machine: a server elsewhere gets headers",
};

/** Reads the address of a server; null unless it is https, or http on this machine, with nothing in it but a place. */
export function remoteTarget(text: string): RemoteTarget | null {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return null;
  const host = canonicalHost(url.hostname);
  const isSecure = url.protocol === "https:";
  if (host === null || !(isSecure || (url.protocol === "http:" && isThisMachine(host)))) return null;
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  return port === 0 ? null : { url: url.href, isSecure, host, port };
}

/** Whether a canonical host is this machine, whatever its network. */
export function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.[0-9.]+$/.test(host);
}

/** Checks every such field. Returns the place of the server; null where the plugin is none, or its address is wrong. */
export function checkRemote(data: Data, report: DocumentReport): RemoteTarget | null {
  if (data.runtime !== "mcp_http") {
    for (const field of ["url", "headers", "oauth"].filter((one) => Object.hasOwn(data, one))) {
      const message = `${shown(field)} is of a server elsewhere, which runtime: mcp_http is for`;
      report.error("manifest.mcp_contradiction", [field], { message, part: "key" });
    }
    for (const field of ["command", "capabilities"].filter((one) => !Object.hasOwn(data, one))) {
      report.error("manifest.missing_field", [field], { message: `Field ${shown(field)} is missing` });
    }
    return null;
  }
  for (const [field, message] of Object.entries(NOT_ELSEWHERE)) {
    if (Object.hasOwn(data, field)) report.error("manifest.mcp_contradiction", [field], { message, part: "key" });
  }
  checkHeaders(data, report);
  checkOauth(data, report);
  if (!Object.hasOwn(data, "url")) {
    report.error("manifest.missing_field", ["url"], { message: 'Field "url" is missing' });
  }
  if (typeof data.url !== "string") return null;
  const target = remoteTarget(data.url);
  // The shape of a text that is no address at all is reported already.
  if (target === null && /^https?:\/\/[\x21-\x7e]+$/.test(data.url)) report.error("manifest.invalid_url", ["url"]);
  return target;
}

/** Returns the one capability of a server elsewhere: to be connected to. Any other that is listed is reported. */
export function remoteCapabilities(
  data: Data,
  listed: readonly string[],
  { host, port }: RemoteTarget,
  report: DocumentReport,
): string[] {
  const own = `net:${host}:${port}`;
  const isOther = listed.some((one) => one !== own && one !== `net:${host}:*`);
  if (isOther) {
    const [first] = itemsOf(data, "capabilities");
    const message = `A server elsewhere has no capability but ${own}, which its url gives it`;
    report.error("manifest.mcp_contradiction", first?.[1] ?? ["capabilities"], { message });
  }
  return [own];
}

function checkHeaders(data: Data, report: DocumentReport): void {
  const taken = new Map<string, string>();
  const take = (name: unknown, path: readonly string[]): void => {
    if (typeof name !== "string") return;
    const lower = name.toLowerCase();
    if (RESERVED.test(name)) {
      report.error("manifest.invalid_header", path, { message: `The host sets ${shown(name)} itself` });
    } else if (taken.has(lower)) {
      report.error("manifest.invalid_header", path, { message: `${shown(name)} has two values` });
    }
    taken.set(lower, name);
  };
  for (const name of Object.keys(mapOf(data, "headers"))) take(name, ["headers", name]);
  for (const [key, secret] of Object.entries(mapOf(data, "secrets"))) {
    if (isMap(secret)) take(secret.header, ["secrets", key, "header"]);
  }
  if (taken.has("authorization") && Object.hasOwn(data, "oauth")) {
    const message = "A login gives the field Authorization its value: there is another one";
    report.error("manifest.mcp_contradiction", ["oauth"], { message, part: "key" });
  }
}

function checkOauth(data: Data, report: DocumentReport): void {
  const { client_id, client_secret, client_metadata_url } = mapOf(data, "oauth");
  const contradict = (field: string, message: string): void =>
    report.error("manifest.mcp_contradiction", ["oauth", field], { message });
  if (client_secret !== undefined && client_id === undefined) {
    contradict("client_secret", "A password without client_id is of no client");
  }
  if (client_metadata_url !== undefined && client_id !== undefined) {
    contradict("client_metadata_url", "It takes the place of client_id: write one of the two");
  }
  if (typeof client_secret === "string" && !Object.hasOwn(mapOf(data, "secrets"), client_secret)) {
    const message = `${shown(client_secret)} is no key of secrets`;
    report.error("manifest.unknown_secret", ["oauth", "client_secret"], { message });
  }
}
