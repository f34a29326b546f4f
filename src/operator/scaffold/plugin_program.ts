/**
 * The program of a new plugin: its files, and the lines of its manifest about them.
 *
 * @module
 */

/** Ways to write a plugin. `js` runs on whatever runtime the host itself runs on. */
export const SCAFFOLD_RUNTIMES = ["js", "deno", "bun", "node", "bash", "python"] as const;

/** One way to write a plugin. */
export type ScaffoldRuntime = (typeof SCAFFOLD_RUNTIMES)[number];

/** The SDK a plugin carries with it. */
export interface SdkText {
  readonly js: string;
  /** Types of the JavaScript module. */
  readonly dts: string;
  readonly py: string;
}

/** One file of a new plugin. */
export interface ScaffoldFile {
  readonly content: string;
  readonly mode: number;
}

/** The files of a program and the fields of its manifest about them. */
export interface PluginProgram {
  /** `command` of the manifest. */
  readonly command: readonly string[];
  /** `capabilities` of the manifest. */
  readonly capabilities: readonly string[];
  /** The file that the author edits first. */
  readonly main: string;
  /** By path inside the plugin's folder. */
  readonly files: Readonly<Record<string, ScaffoldFile>>;
}
