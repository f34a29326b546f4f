/**
 * What the program of a new plugin consists of.
 *
 * @module
 */

/** Ways to write a plugin. `js` runs on whatever runtime the host itself runs on. */
export const SCAFFOLD_RUNTIMES = ["js", "deno", "bun", "node", "bash", "python"] as const;

/** One way to write a plugin. */
export type ScaffoldRuntime = (typeof SCAFFOLD_RUNTIMES)[number];

/** The SDK a plugin carries with it. */
export interface SdkText {
  /** The JavaScript module. */
  readonly js: string;
  /** Its types. */
  readonly dts: string;
  /** The Python module. */
  readonly py: string;
}

/** One file of a new plugin. */
export interface ScaffoldFile {
  /** What is in it. */
  readonly content: string;
  /** Permission bits. */
  readonly mode: number;
}

/** A file of a program, and what its manifest says about starting it. */
export interface PluginProgram {
  /** `command` of the manifest. */
  readonly command: readonly string[];
  /** `capabilities` of the manifest. */
  readonly capabilities: readonly string[];
  /** The file to edit. */
  readonly main: string;
  /** Its files by path. */
  readonly files: Readonly<Record<string, ScaffoldFile>>;
}
