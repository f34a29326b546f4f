/**
 * A line of a plugin's log for people. Lines of the SDKs are JSON; any other line is shown as it is.
 *
 * @module
 */

/** A line, taken apart. */
export interface LogWords {
  /** Null where the line names none. */
  readonly level: string | null;
  readonly text: string;
  /** The other fields, as `name=value`. */
  readonly fields: string;
}

/** Fields that are shown elsewhere, or not at all: the host has its own time of each line. */
const SHOWN: readonly string[] = ["level", "msg", "message", "time", "timestamp"];

/** Takes a line apart; one that is no JSON of a log is all text. */
export function logWords(line: string): LogWords {
  const plain: LogWords = { level: null, text: line, fields: "" };
  if (!line.startsWith("{")) return plain;
  let data: Record<string, unknown>;
  try {
    data = JSON.parse(line);
  } catch {
    return plain;
  }
  const { level, msg, message = msg } = data;
  if (typeof level !== "string" || typeof message !== "string") return plain;
  const others = Object.entries(data).filter(([name]) => !SHOWN.includes(name));
  const fields = others.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return { level, text: message, fields: fields.join(" ") };
}

/** Returns the weight of a level: the class that colours it. */
export function weightOfLevel(level: string): "bad" | "warn" | "" {
  return level === "error" || level === "fatal" ? "bad" : level === "warn" || level === "warning" ? "warn" : "";
}
