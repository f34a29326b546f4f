/**
 * Keeps the SDK's module that the example plugin `notes` carries with it.
 *
 * @module
 */
import { compileSdk } from "./sdk_module.ts";

const notesSdk: { readonly path: string; render(): Promise<string> } = {
  path: "examples/plugins/notes/kaged_sdk.js",
  render: async (): Promise<string> => (await compileSdk()).js,
};

export default notesSdk;
