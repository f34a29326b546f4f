/**
 * Drafts the `kaged-plugin.yaml` of an MCP server.
 *
 * @module
 */
import { yamlText } from "../../core/documents/edit_yaml.ts";
import { oneLine } from "../../core/manifest/one_line.ts";
import { isSemanticVersion } from "../../core/values/semantic_version.ts";
import { hostOfUrl } from "./secret_hosts.ts";
import type { FetchedServer, SecretNeed, ServerFacts, ServerSource } from "./types.ts";

/** A secret with the decision about where it goes. */
export interface DraftSecret extends SecretNeed {
  /** `host:port` of each server it may go to; null where the server itself is to see it. */
  readonly hosts: readonly string[] | null;
}

/** Everything that a manifest is drafted from. */
export interface DraftInput {
  readonly name: string;
  readonly source: ServerSource;
  readonly fetched: Pick<FetchedServer, "facts" | "command">;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly DraftSecret[];
  /** Capabilities beside those that the hosts of secrets call for. */
  readonly capabilities: readonly string[];
}

/** A manifest before it is written. */
export interface Draft {
  readonly data: Readonly<Record<string, unknown>>;
  /** Facts of the package that a manifest cannot hold as they are. */
  readonly notes: readonly string[];
}

const SPDX = /^[A-Za-z0-9.+()-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+()-]+)*$/;
const MAX_LINE = 200;

/** Returns the manifest of a server. */
export function draftManifest(input: DraftInput): Draft {
  const { name, source, fetched: { facts, command }, args, env, headers, secrets } = input;
  const notes: string[] = [];
  const isRemote = source.kind === "remote";
  const hosts = isRemote ? [hostOfUrl(source.url)!] : secrets.flatMap((secret) => secret.hosts ?? []);
  const capabilities = [...new Set([...input.capabilities, ...hosts.map((host) => `net:${host}`)])];
  const keys = secrets.map(({ key }) => key);
  const data = {
    name,
    version: versionOf(facts, notes),
    kaged_api: 1,
    description: lineOf(facts.description) ?? `MCP server ${lineOf(facts.title) ?? name}`,
    ...factFields(facts, notes),
    ...(isRemote
      ? { runtime: "mcp_http", url: source.url, ...(Object.keys(headers).length > 0 && { headers }) }
      : { runtime: "mcp_stdio", command: [...command, ...args], home: "private", env }),
    capabilities,
    ...(secrets.length > 0 && {
      system_config_schema: {
        type: "object",
        properties: Object.fromEntries(secrets.map(({ key, description }) => [key, { type: "string", description }])),
        required: keys.filter((_, index) => secrets[index]!.isRequired),
        additionalProperties: false,
      },
      secrets: Object.fromEntries(secrets.map((secret) => [secret.key, secretField(secret, isRemote)])),
    }),
  };
  return { data, notes };
}

/** Returns the text of a draft, with its origin. */
export async function draftText({ data }: Draft, origin: string): Promise<string> {
  return `# Drafted by kaged mcp add from ${origin.replaceAll(/\s/g, " ")}\n${await yamlText(data)}`;
}

function secretField({ carrier, hosts }: DraftSecret, isRemote: boolean): Record<string, unknown> {
  if ("header" in carrier) return { header: carrier.header, ...(carrier.prefix !== "" && { prefix: carrier.prefix }) };
  const { env } = carrier;
  return hosts === null && !isRemote ? { exposed: true, env } : { hosts, env };
}

function versionOf({ version }: ServerFacts, notes: string[]): string {
  if (isSemanticVersion(version)) return version;
  const padded = /^\d+(?:\.\d+)?$/.test(version) ? `${version}.0.0`.split(".").slice(0, 3).join(".") : "0.0.0";
  notes.push(`Its version ${JSON.stringify(version)} is recorded as ${padded}`);
  return padded;
}

function factFields({ author, license, homepage }: ServerFacts, notes: string[]): Record<string, string> {
  const isLicense = license !== undefined && SPDX.test(license) && license.length <= 100;
  if (license !== undefined && !isLicense) notes.push(`Its licence says: ${JSON.stringify(license.slice(0, 100))}`);
  const line = author === undefined ? null : lineOf(author);
  const isAddress = homepage !== undefined && /^https?:\/\/[\x21-\x7e]+$/.test(homepage) && homepage.length <= 2048;
  return {
    ...(line !== null && { author: line }),
    ...(isLicense && { license }),
    ...(isAddress && { homepage }),
  };
}

/** Returns a text as one line of a manifest; null where nothing is left of it. */
function lineOf(text: string): string | null {
  const plain = text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_LINE);
  const cut = /[\ud800-\udbff]$/.test(plain) ? plain.slice(0, -1) : plain;
  return oneLine(MAX_LINE).test(cut) ? cut : null;
}
