/**
 * Keeps the SDK's declarations that the example plugin `notes` carries with it.
 *
 * @module
 */
import { compileSdk } from "./sdk_module.ts";

const notesSdk: { readonly path: string; render(): Promise<string> } = {
  path: "examples/plugins/notes/kaged_sdk.d.ts",
  render: async (): Promise<string> => (await compileSdk()).dts,
};

export default notesSdk;
