/**
 * Values from a file or a plugin, as a message shows them.
 *
 * @module
 */

const MAX_LENGTH = 80;

/** Returns `value` as short printable JSON: whatever it holds, it cannot move the cursor or flood a screen. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return cut.replace(/[^\x20-\x7e…]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
