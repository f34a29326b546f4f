/**
 * Keeps what the plugins of `examples/kinds` carry with them: the SDK in JavaScript and Python, and their kind in Go.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { detectRuntime } from "../../src/adapters/default.ts";
import { emitGo } from "../../src/hookspec/emit/go.ts";
import { readHookspec } from "../../src/hookspec/read_hookspec.ts";
import type { Generator } from "../generate.ts";
import { compileSdk } from "./sdk_module.ts";

const DIR = "examples/kinds";

/** The generated files of the example. */
export const kindsExample: readonly Generator[] = [
  { path: `${DIR}/writer-js/kaged_sdk.js`, render: async () => (await compileSdk()).js },
  {
    path: `${DIR}/writer-py/kaged_sdk.py`,
    render: () => readFile(new URL("../../sdk/python/kaged_sdk.py", import.meta.url), "utf8"),
  },
  {
    path: `${DIR}/writer-go/writer/writer.go`,
    async render() {
      const { kinds } = await readHookspec(`${DIR}/hookspec`, (await detectRuntime()).files);
      return emitGo(kinds[0]!);
    },
  },
];
