/**
 * A registry of npm packages on this machine, with real tarballs, for one test.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { scratchDir } from "./scratch_dir.ts";

/** A version of a package: fields of its package.json, and its other files. */
export interface TestPackage {
  readonly name: string;
  readonly version: string;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** A registry that runs. */
export interface NpmRegistry {
  /** Variables with which npm asks this registry, and keeps its cache in a folder of the test. */
  readonly env: Readonly<Record<string, string>>;
  /** Adds a version, which becomes the newest. */
  publish(pkg: TestPackage): void;
  /** Paths of all requests so far. */
  readonly requests: readonly string[];
}

/** Starts a registry with packages; it ends with the test. */
export async function npmRegistry(
  t: { after(run: () => Promise<void>): void },
  packages: readonly TestPackage[] = [],
): Promise<NpmRegistry> {
  const all: TestPackage[] = [...packages];
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    requests.push(path);
    const tarball = all.find((pkg) => path === `/${pkg.name}/-/${fileOf(pkg)}`);
    if (tarball) return void response.end(tarballOf(tarball));
    const versions = all.filter((pkg) => path === `/${pkg.name}`);
    if (versions.length === 0) return void response.writeHead(404).end("{}");
    const { port } = server.address() as AddressInfo;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(documentOf(versions, `http://127.0.0.1:${port}`)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const env = { npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: await scratchDir(t) };
  return { env, requests, publish: (pkg) => void all.push(pkg) };
}

const fileOf = ({ name, version }: TestPackage): string => `${name.slice(name.lastIndexOf("/") + 1)}-${version}.tgz`;

const packageJson = ({ name, version, json = {} }: TestPackage): Record<string, unknown> => ({
  name,
  version,
  ...json,
});

function documentOf(versions: readonly TestPackage[], url: string): Record<string, unknown> {
  const entries = versions.map((pkg) => {
    const integrity = `sha512-${createHash("sha512").update(tarballOf(pkg)).digest("base64")}`;
    const hasInstallScript = "scripts" in (pkg.json ?? {});
    const dist = { tarball: `${url}/${pkg.name}/-/${fileOf(pkg)}`, integrity };
    return [pkg.version, { ...packageJson(pkg), ...(hasInstallScript && { hasInstallScript }), dist }];
  });
  const { name, version } = versions.at(-1)!;
  return { name, "dist-tags": { latest: version }, versions: Object.fromEntries(entries) };
}

function tarballOf(pkg: TestPackage): Uint8Array {
  const files = { "package.json": JSON.stringify(packageJson(pkg)), ...pkg.files };
  const encoder = new TextEncoder();
  const parts = Object.entries(files).flatMap(([path, text]) => {
    const content = encoder.encode(text);
    const padded = new Uint8Array(Math.ceil(content.length / 512) * 512);
    padded.set(content);
    return [tarHeader(`package/${path}`, content.length), padded];
  });
  const blocks = [...parts, new Uint8Array(1024)];
  const whole = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return gzipSync(whole);
}

function tarHeader(path: string, size: number): Uint8Array {
  const header = new Uint8Array(512);
  const put = (text: string, at: number): void => header.set(new TextEncoder().encode(text), at);
  put(path, 0);
  put("0000755\0", 100);
  put("0000000\0", 108);
  put("0000000\0", 116);
  put(`${size.toString(8).padStart(11, "0")}\0`, 124);
  put("00000000000\0", 136);
  put("        ", 148);
  put("0", 156);
  put("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
