// @ts-check
import { createPlugin } from "./kaged_sdk.js";

const plugin = createPlugin({
  name: "{{name}}",
  version: "0.1.0",

  methods: {
    "greetings.list": () => ({ greetings: ["Hello", "Ahoy", "Good day"] }),
  },

  tools: {
    greet({ who }, { config }) {
      plugin.log.info("Greeting", { who }); // To stderr: stdout belongs to the protocol.
      return { text: `${config.greeting ?? "Hello"}, ${who}!` };
    },
  },

  hooks: {
    on_session_start: (_, { config }) => ({ inject: `Greet people with "${config.greeting ?? "Hello"}".` }),
  },
});

plugin.start();
