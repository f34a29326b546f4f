/**
 * Keeps the SDK's module that the example plugin `tickets` carries with it.
 *
 * @module
 */
import { compileSdk } from "./sdk_module.ts";

const ticketsSdk: { readonly path: string; render(): Promise<string> } = {
  path: "examples/secrets/tickets/kaged_sdk.js",
  render: async (): Promise<string> => (await compileSdk()).js,
};

export default ticketsSdk;
