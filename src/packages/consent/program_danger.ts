/**
 * Programs to think twice about before granting them.
 *
 * @module
 */

const SHELLS = /^(ba|da|z|k|mk|fi|tc|c|a)?sh[0-9.]*$/;
const INTERPRETERS =
  /^(python|perl|ruby|php|lua|luajit|tclsh|node|nodejs|bun|deno|java|R|Rscript|gawk|mawk|awk)[0-9.]*$/;
/** Programs whose purpose is to run others. */
const RUNNERS = [
  "env",
  "xargs",
  "find",
  "busybox",
  "make",
  "npx",
  "bunx",
  "git",
  "ssh",
  "sudo",
  "su",
  "timeout",
  "nohup",
];

/** Returns why a grant of a program is dangerous, or null. */
export function programDanger(program: string): string | null {
  if (SHELLS.test(program)) return "A shell runs any script it is given, though in the plugin's own cage";
  if (INTERPRETERS.test(program)) return "An interpreter runs any script it is given, though in the plugin's own cage";
  if (RUNNERS.includes(program)) return "It runs other programs, though in the plugin's own cage";
  return null;
}
