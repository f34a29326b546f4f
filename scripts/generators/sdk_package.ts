/**
 * Keeps the files of the package `@kaged/plugin-sdk`.
 *
 * @module
 */
import type { Generator } from "../generate.ts";
import { compileSdk } from "./sdk_module.ts";

/** The module and its types. */
export const sdkPackage: readonly Generator[] = [
  { path: "sdk/javascript/kaged_sdk.js", render: async () => (await compileSdk()).js },
  { path: "sdk/javascript/kaged_sdk.d.ts", render: async () => (await compileSdk()).dts },
];
