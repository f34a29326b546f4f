/**
 * The token of the API: made once, kept in a file that only the operator may read.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";

const TOKEN = /^[A-Za-z0-9_-]{32,200}$/;
const TOKEN_BYTES = 32;

/**
 * Returns the token in `<home>/token`, and makes the file (mode 0600) when it is missing.
 *
 * @throws {HostError} `host.file_unreadable` when the file holds no token, or other users may read it.
 */
export async function readToken(home: string, runtime: Pick<Runtime, "files" | "ids">): Promise<string> {
  return await readTokenFile(`${home}/token`, runtime);
}

/** Returns the token in a file, which is made when it is missing; see {@link readToken}. */
export async function readTokenFile(path: string, { files, ids }: Pick<Runtime, "files" | "ids">): Promise<string> {
  const info = await files.target(path);
  if (info === null) await makeToken(path, { files, ids });
  else if ((info.mode & 0o077) !== 0) {
    throw unusable(path, "others may read it", `Run chmod 600 ${path}, or remove it to have a new one made`);
  }
  const token = (await files.readText(path)).trim();
  if (isToken(token)) return token;
  throw unusable(path, "it holds no token", "Remove it to have a new one made");
}

/** Whether a text can be a token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Links the file into place, which fails when it exists: of two hosts that start at once, both use the first token. */
async function makeToken(path: string, { files, ids }: Pick<Runtime, "files" | "ids">): Promise<void> {
  const fresh = `${path}.${ids.create("new")}`;
  await files.write(fresh, `${randomText()}\n`, 0o600);
  try {
    await files.link(fresh, path);
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  } finally {
    await files.remove(fresh);
  }
}

/** Returns 32 random bytes as text that fits into an address. */
export function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
}

function base64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unusable(path: string, why: string, hint: string): HostError {
  return new HostError("host.file_unreadable", `Cannot use "${path}": ${why}`, { data: { path }, hint });
}
