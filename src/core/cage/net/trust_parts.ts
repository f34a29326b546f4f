/**
 * The certificate authority of this host process in a cage: its files, and the variables by which clients find them.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";
import type { Files, Runtime } from "../../ports/ports.ts";
import type { BoundOptions } from "./bound/bound_gate.ts";
import type { BoundSecret, NetLimit } from "./bound_secret.ts";
import { type Authority, createAuthority } from "./tls/authority.ts";

/** Where distributions keep the roots that they trust, in one file. */
const ROOT_FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The authority's certificate among the files of a start: for clients that add it to their own roots. */
const AUTHORITY_FILE = "authority.pem";
/** The same with the system's roots: for clients that believe one file and nothing else. */
const ROOTS_FILE = "roots.pem";

/** Parts of a cage whose clients believe the gatekeeper. */
export interface TrustParts {
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly { readonly source: string; readonly dest: string }[];
  /** Files to write for this start: name → text. */
  readonly files: Readonly<Record<string, string>>;
}

/** Certificates that a cage is given. */
export interface CageTrust {
  /** Certificate of the host process's own authority, as PEM. */
  readonly authority: string;
  /** Certificates that servers are believed by, as PEM. */
  readonly roots: readonly string[];
}

/** Returns the parts that make a cage believe `trust`; none for a cage without bound hosts. */
export function trustParts(trust: CageTrust | null, runDir: string): TrustParts {
  if (trust === null) return { env: {}, mounts: [], files: {} };
  const [authority, roots] = [`/.cage/${AUTHORITY_FILE}`, `/.cage/${ROOTS_FILE}`];
  return {
    env: {
      ...{ NODE_EXTRA_CA_CERTS: authority, DENO_CERT: authority },
      ...{ SSL_CERT_FILE: roots, CURL_CA_BUNDLE: roots, REQUESTS_CA_BUNDLE: roots },
    },
    mounts: [AUTHORITY_FILE, ROOTS_FILE].map((name) => ({ source: `${runDir}/${name}`, dest: `/.cage/${name}` })),
    files: { [AUTHORITY_FILE]: trust.authority, [ROOTS_FILE]: [trust.authority, ...trust.roots].join("\n") },
  };
}

/** One authority for each host process, made when the first cage needs it. */
const authorities = new WeakMap<Runtime, Promise<Authority>>();

/** Returns what the gatekeeper of a cage needs for its bound hosts; null when it has none. */
export async function boundOptions(
  { secrets = [], netLimits: limits = [] }: {
    readonly secrets?: readonly BoundSecret[];
    readonly netLimits?: readonly NetLimit[];
  },
  runtime: Runtime,
): Promise<BoundOptions | null> {
  if (secrets.length === 0 && limits.length === 0) return null;
  const making = authorities.get(runtime) ?? createAuthority(runtime);
  authorities.set(runtime, making);
  const [authority, roots] = await Promise.all([making, systemRoots(runtime)]);
  return { secrets, limits, authority, roots };
}

/** Lists of roots by the files they were read from: the same array for the same list, so that it is read once. */
const rootLists = new Map<string, readonly string[]>();

/**
 * Returns the certificates that this machine's operator trusts: those of `SSL_CERT_FILE` or of the system, and those of
 * `NODE_EXTRA_CA_CERTS`, as the host's own environment names them.
 */
export async function systemRoots({ files, env }: Pick<Runtime, "files" | "env">): Promise<readonly string[]> {
  const first = env("SSL_CERT_FILE") ?? await firstFile(files);
  const paths = [first, env("NODE_EXTRA_CA_CERTS")].filter((path) => path !== null && path !== "");
  const texts = await Promise.all(paths.map((path) => readRoots(path!, files)));
  const key = texts.join("\n");
  const roots = rootLists.get(key) ?? [...key.matchAll(CERTIFICATE)].map(([certificate]) => certificate);
  rootLists.clear(); // Only the list of now is needed again.
  rootLists.set(key, roots);
  return roots;
}

async function readRoots(path: string, files: Files): Promise<string> {
  try {
    return await files.readText(path);
  } catch (cause) {
    throw new HostError("cage.roots_unreadable", `Cannot read the trusted certificates in "${path}"`, {
      data: { path },
      hint: "Correct SSL_CERT_FILE and NODE_EXTRA_CA_CERTS in the environment of the host",
      cause,
    });
  }
}

async function firstFile(files: Files): Promise<string | null> {
  for (const path of ROOT_FILES) if ((await files.target(path))?.kind === "file") return path;
  return null;
}
