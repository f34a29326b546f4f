/**
 * Whose object is it: prefixes, and the rule that the longest one wins.
 *
 * Plugin `p` with a table `x_notes` and plugin `p-x` with a table `notes` would both own `plugin_p_x_notes`. An object
 * belongs to the plugin with the longest prefix that fits, so `p` may not use names that start with `x_` once `p-x` has
 * claimed its prefix; and nobody can claim a prefix under which another plugin already keeps something.
 *
 * @module
 */
import { foldName } from "./sql/tokens.ts";

/** Returns what every object of `plugin` starts with. */
export function tablePrefix(plugin: string): string {
  return `plugin_${foldName(plugin).replaceAll("-", "_")}_`;
}

/** Returns which of `plugins` owns the object called `name`, or null when it is the host's own. */
export function ownerOf(name: string, plugins: Iterable<string>): string | null {
  const folded = foldName(name);
  let owner: string | null = null;
  for (const plugin of plugins) {
    const prefix = tablePrefix(plugin);
    if (folded.startsWith(prefix) && (owner === null || prefix.length > tablePrefix(owner).length)) owner = plugin;
  }
  return owner;
}

/** Returns `text` with every occurrence of `prefix` taken out, in whichever case. */
export function withoutPrefix(text: string, prefix: string): string {
  const folded = foldName(text);
  let clean = "";
  let from = 0;
  for (let at = folded.indexOf(prefix); at >= 0; at = folded.indexOf(prefix, from)) {
    clean += text.slice(from, at);
    from = at + prefix.length;
  }
  return clean + text.slice(from);
}

/** Returns `name` in double quotes, as SQL writes a name. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
