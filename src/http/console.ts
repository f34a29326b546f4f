/**
 * The console page: files that are part of the package, and nothing from anywhere else.
 *
 * @module
 */
import { CONSOLE_FILES } from "./generated/console_files.ts";

/** Only what this server sends; no inline script, no frame around it, no form to elsewhere. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Whether a file of the console stands at the path. */
export function isConsolePath(pathname: string): boolean {
  return CONSOLE_FILES.has(pathname);
}

/** Returns the file of the console that a request asks for, or null. */
export function consoleResponse(request: Request): Response | null {
  const file = CONSOLE_FILES.get(new URL(request.url).pathname);
  if (!file || (request.method !== "GET" && request.method !== "HEAD")) return null;
  return new Response(request.method === "HEAD" ? null : file.text, {
    headers: { "Content-Type": file.type, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" },
  });
}
