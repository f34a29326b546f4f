/**
 * Whether a path is one of those that a rule names, however a server may read it.
 *
 * @module
 */

/** Percent-encoding inside percent-encoding: more than this is nobody's honest path. */
const MAX_LAYERS = 4;

/**
 * Whether every reading of a path, its query left out, matches one of the patterns, in which `*` stands for any rest.
 * Servers differ in what they decode, and when: a path is allowed only if it makes no difference.
 */
export function isPathAllowed(path: string, patterns: readonly string[]): boolean {
  const readings = readingsOf(path.split("?", 1)[0] ?? "");
  return readings !== null && readings.every((reading) => patterns.some((pattern) => matches(reading, pattern)));
}

/** Returns each path that a server could take this one for; null when it decodes to what no path may hold. */
export function readingsOf(path: string): string[] | null {
  const readings = new Set<string>();
  let layer = path;
  for (let depth = 0; depth <= MAX_LAYERS; depth++) {
    // deno-lint-ignore no-control-regex
    if (/[\x00-\x1f\x7f]/.test(layer)) return null;
    // A parameter after a semicolon is part of the segment for some, and nothing for others.
    for (const text of [layer, layer.replace(/;[^/]*/g, "")]) {
      // Decoded or not, and with slashes that lean either way.
      for (const slashed of [text, text.replaceAll("\\", "/")]) readings.add(normal(slashed));
    }
    const next = decoded(layer);
    if (next === null) return null;
    if (next === layer) return [...readings];
    layer = next;
  }
  return null;
}

/** Null when a percent sign begins no code. One character for each byte. */
function decoded(path: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return null;
  return path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Returns the path without empty and dot segments (RFC 3986 §5.2.4). */
function normal(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/").slice(1);
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  const isFolder = ["", ".", ".."].includes(segments.at(-1) ?? "") && kept.length > 0;
  return `/${kept.join("/")}${isFolder ? "/" : ""}`;
}

/** Compares piece by piece from the left: no pattern takes longer than the path is long. */
function matches(path: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return path === pattern;
  const last = rest.pop() ?? "";
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = path.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
