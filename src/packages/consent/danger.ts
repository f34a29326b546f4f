/**
 * Paths and programs to think twice about before granting them.
 *
 * @module
 */
import type { CagePlaces } from "../../core/cage/cage.ts";
import { isWithin } from "../../core/cage/path_rules.ts";

/** Names in a home folder that hold keys and tokens. */
const SECRETS = /^\.(ssh|gnupg|aws|azure|config|docker|kube|netrc|npmrc|password-store)$/;
/** Files in a home folder that programs run or trust. */
const TRUSTED = /^\.(bash|profile|zsh|z(log|profile)|login|config|local|ssh|gitconfig|npmrc|vimrc|emacs|x|pam)/;
/** Folders of the system that hold much more than any plugin needs. */
const BROAD = ["/home", "/root", "/etc", "/var", "/opt", "/srv", "/usr", "/mnt", "/media", "/data", "/tmp"];

/** Returns why a grant of `path` is dangerous, or null; null for the path is a folder that is not known yet. */
export function pathDanger(
  path: string | null,
  access: "read" | "write",
  { userHome, projectDir, home: operatorDir }: CagePlaces & { readonly userHome: string | null },
): string | null {
  if (path === null) return null;
  // Folders of `config:/…` are made for plugins, and the operator's folder usually lies under ~/.local.
  const forPlugins = `${operatorDir}/files`;
  if (path !== forPlugins && isWithin(path, forPlugins)) return null;
  const home = userHome !== null && userHome !== "/" ? userHome : null;
  if (home !== null && isWithin(home, path)) {
    return access === "write"
      ? "It is your home folder: what is changed there, other programs run and trust"
      : "It is your home folder, with keys, tokens and everything you wrote";
  }
  const name = home !== null && isWithin(path, home) ? path.slice(home.length + 1).split("/")[0] ?? "" : "";
  if (access === "write" && TRUSTED.test(name)) return "What is changed there, other programs run and trust";
  if (SECRETS.test(name)) return "It is where keys and tokens are kept";
  if (BROAD.includes(path) || !path.slice(1).includes("/")) {
    return access === "write" ? "It is a broad folder, with much that is not the plugin's" : "It is a broad folder";
  }
  if (access === "write" && projectDir !== null && isWithin(projectDir, path)) {
    return "It is the whole project: what is changed there, tools and people run and trust";
  }
  return null;
}

/** Programs that run other code than their own, and why that matters. */
const RUNNERS: readonly (readonly [names: RegExp, danger: string])[] = [
  [/^(ba|da|z|k|mk|fi|tc|c|a)?sh[0-9.]*$/, "A shell runs any script it is given, though in the plugin's own cage"],
  [
    /^(python|perl|ruby|php|lua|luajit|tclsh|node|nodejs|bun|deno|java|R|Rscript|gawk|mawk|awk)[0-9.]*$/,
    "An interpreter runs any script it is given, though in the plugin's own cage",
  ],
  [
    /^(env|xargs|find|busybox|make|npx|bunx|git|ssh|sudo|su|timeout|nohup)$/,
    "It runs other programs, though in the plugin's own cage",
  ],
];

/** Returns why a grant of a program is dangerous, or null. */
export function programDanger(program: string): string | null {
  return RUNNERS.find(([names]) => names.test(program))?.[1] ?? null;
}
