/**
 * Numbers and times as a person reads them.
 *
 * @module
 */

const COUNT = new Intl.NumberFormat("en");

/** Writes a number with separators: `12,345`. */
export function count(value: number): string {
  return COUNT.format(value);
}

/** Writes a number with its noun: `1 plugin`, `3 plugins`. */
export function counted(value: number, one: string, many: string = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Shortens the path of an agent: `primary › researcher`. */
export function agentName(path: string): string {
  return path.replaceAll(".subagents.", " › ");
}

/** Writes a size in decimal units: `1.4 MB`. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(value) / 3), units.length);
  const scaled = value / 1000 ** power;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power - 1]}`;
}

/** Writes the time of day to the second; an invalid time is empty. */
export function timeOfDay(timestamp: unknown): string {
  const date = new Date(String(timestamp));
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString("en-GB");
}

/** Writes the date and the time of day; an invalid time is empty. */
export function dateAndTime(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? "" : `${date.toLocaleDateString("en-CA")} ${timeOfDay(timestamp)}`;
}
