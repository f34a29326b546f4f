/**
 * Writes every generated file, or with `--check` says which of them is stale.
 *
 *   npm run generate              write
 *   npm run generate -- --check   exit 1 when a committed file differs from what would be written
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import agentTemplates from "./generators/agent_templates.ts";
import conformance from "./generators/conformance.ts";
import consoleFiles from "./generators/console_files.ts";
import errorCodes from "./generators/error_codes.ts";
import { hookspecFiles } from "./generators/hookspec.ts";
import { kindsExample } from "./generators/kinds_example.ts";
import kernelFilesProgram from "./generators/kernel_files_program.ts";
import manifestSchema from "./generators/manifest_schema.ts";
import notesSdkDts from "./generators/notes_sdk_dts.ts";
import pluginTemplates from "./generators/plugin_templates.ts";
import notesSdkJs from "./generators/notes_sdk_js.ts";
import ticketsSdkJs from "./generators/tickets_sdk_js.ts";
import openapi from "./generators/openapi.ts";
import { pictures } from "./generators/pictures.ts";
import { pluginBundle } from "./generators/plugin_bundle.ts";
import { pythonSdkFiles } from "./generators/python_sdk.ts";
import relayModule from "./generators/relay_module.ts";
import requirements from "./generators/requirements.ts";
import sdkModule from "./generators/sdk_module.ts";
import { sdkPackage } from "./generators/sdk_package.ts";
import storageProgram from "./generators/storage_program.ts";

/** A file that is made from the sources. */
export interface Generator {
  /** Where it is committed. */
  readonly path: string;
  /** Makes its text; the same text every time. */
  render(): Promise<string>;
}

/** Every generated file. */
export const generators: readonly Generator[] = [
  ...hookspecFiles,
  ...kindsExample,
  ...sdkPackage,
  manifestSchema,
  sdkModule,
  relayModule,
  pluginTemplates,
  agentTemplates,
  notesSdkJs,
  ticketsSdkJs,
  notesSdkDts,
  ...pythonSdkFiles,
  pluginBundle("memory-markdown", { bundled: ["minisearch"] }),
  pluginBundle("smart-compactor", { bundled: [] }),
  consoleFiles,
  openapi,
  ...errorCodes,
  conformance,
  requirements,
  storageProgram,
  kernelFilesProgram,
  ...pictures,
];

if (import.meta.main) {
  const isCheck = process.argv.includes("--check");
  for (const { path, render } of generators) {
    const text = await render();
    const committed = await readFile(path, "utf8").catch(() => null);
    if (committed === text) continue;
    if (isCheck) {
      console.error(`error: ${path} is stale; run npm run generate`);
      process.exitCode = 1;
    } else {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      console.log(`wrote ${path}`);
    }
  }
}
