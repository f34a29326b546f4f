// A plugin that uses a token it never sees: to the program the placeholder is a token like any other.
import { createPlugin, PluginError } from "./kaged_sdk.js";

const plugin = createPlugin({
  name: "tickets",
  version: "0.1.0",

  tools: {
    list: async (_, { config }) => {
      const headers = { Authorization: `Bearer ${config.api_token}` };
      const response = await fetch("https://localhost:8443/", { headers });
      if (!response.ok) throw new PluginError(`The service answered ${response.status}`);
      return { ...await response.json(), holds: config.api_token.slice(0, "kaged_secret_".length) };
    },
  },
});

plugin.start();
