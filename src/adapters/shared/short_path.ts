/**
 * Sockets at paths that are longer than the kernel takes.
 *
 * @module
 */
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Longest path the kernel takes for a socket, in bytes. */
const MAX_SOCKET_PATH = 107;

/** Runs `use` with `path`, or, where that is too long for the kernel, with a short one that leads there meanwhile. */
export async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (new TextEncoder().encode(path).length <= MAX_SOCKET_PATH) return await use(path);
  const dir = await mkdtemp(join(tmpdir(), "kaged-"));
  try {
    await symlink(dirname(path), join(dir, "s"));
    return await use(join(dir, "s", basename(path)));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
