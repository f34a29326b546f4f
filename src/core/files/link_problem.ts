/**
 * Which symbolic links may stand in a plugin's folder.
 *
 * @module
 */

/**
 * Returns what is wrong with a link at `path`, relative to the plugin's folder, or null. Steps up come first in its text
 * and are no more than lead to the folder: then every link on the way leads inside too, and so does this one, whatever
 * stands there. A step up after a name could follow another link first.
 */
export function linkProblem(path: string, target: string): string | null {
  if (target.startsWith("/")) return `leads to "${target}", outside the plugin`;
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const ups = steps.findIndex((step) => step !== "..");
  const leading = ups === -1 ? steps.length : ups;
  if (leading > path.split("/").length - 1) return `leads to "${target}", outside the plugin`;
  return steps.slice(leading).includes("..") ? `leads to "${target}": a step up after a name` : null;
}
