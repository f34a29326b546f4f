/**
 * Hook files that do not run as they are, in words for the operator.
 *
 * @module
 */
import { heldText } from "./files/held_gates.ts";
import type { OpenedHookFiles } from "./open_hook_files.ts";

/** A warning, and the next step where it has one of its own. */
export interface HookFileWarning {
  readonly message: string;
  readonly hint?: string;
}

/**
 * Returns a warning for each hook file that nobody trusts as it is now, for each whose gates block, and for each hook of
 * a trusted file that a mistake in the file leaves out: it may be a check that the operator counts on.
 */
export function hookFileWarnings(
  { judged, held, found: { dir, leftOut } }: Pick<OpenedHookFiles, "judged" | "held" | "found">,
): HookFileWarning[] {
  const isHeld = (name: string): boolean => held.some((file) => file.name === name);
  const unused = judged.flatMap(({ file: { name, origin }, trust }): HookFileWarning[] => {
    // Files that the operator has for another agent, and never wanted to run here, are no news.
    if (trust === "untrusted" && origin === "user") return [];
    if (trust === "untrusted") {
      return [{ message: `${name} is not trusted, and its hooks do not run: kaged hooks trust` }];
    }
    if (trust !== "changed" || isHeld(name)) return [];
    return [{ message: `${name} changed since it was trusted, and its hooks do not run: kaged hooks trust` }];
  });
  const running = judged.filter(({ trust }) => trust !== "untrusted" && trust !== "changed").map(({ file }) =>
    file.name
  );
  const mistakes = leftOut.filter(({ id, isMistake }) =>
    isMistake && running.some((name) => id.startsWith(`${name}:`))
  );
  return [
    ...unused,
    ...mistakes.map(({ id, reason }) => ({ message: `The hook ${id} does not run: ${reason}` })),
    ...held.map((file) => {
      const { reason: message, hint } = heldText(file, dir);
      return { message, hint };
    }),
  ];
}
