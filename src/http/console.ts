/**
 * Serves the console page from files that are part of the package.
 *
 * @module
 */
import { CONSOLE_FILES } from "./generated/console_files.ts";

/** The page loads files of this server only, has no inline script, and cannot be framed. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Whether the console has a file at the path. */
export function isConsolePath(pathname: string): boolean {
  return CONSOLE_FILES.has(pathname);
}

/** Returns the console's file at the path of a request, or null. */
export function consoleResponse(request: Request): Response | null {
  const file = CONSOLE_FILES.get(new URL(request.url).pathname);
  if (!file || (request.method !== "GET" && request.method !== "HEAD")) return null;
  return new Response(request.method === "HEAD" ? null : file.text, {
    headers: { "Content-Type": file.type, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" },
  });
}
