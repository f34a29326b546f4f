/**
 * Every file that follows from the hookspec, where `kaged hookspec emit` writes them.
 *
 * @module
 */
import { join } from "node:path";
import { detectRuntime } from "../../src/adapters/default.ts";
import { emitHookspec } from "../../src/hookspec/emit/emit_hookspec.ts";
import { readHookspec } from "../../src/hookspec/read_hookspec.ts";
import type { Generator } from "../generate.ts";

const DIR = "hookspec";

const { files } = await detectRuntime();
const spec = await readHookspec(DIR, files);

/** One generator for each file. */
export const hookspecFiles: readonly Generator[] = emitHookspec(spec).map(({ language, path, text }) => ({
  path: join(DIR, spec.targets[language]!, path),
  render: () => Promise.resolve(text),
}));
