// Answers the hooks of the kind `writer` that it has something to say to. The host checks input and answers against
// the hookspec, so that nothing has to be checked here.
import { createPlugin } from "./kaged_sdk.js";

const escaped = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

createPlugin({
  name: "writer-js",
  version: "0.1.0",
  methods: {
    "writer.hook.describe": () => ({ language: "JavaScript", formats: ["html"] }),
    "writer.hook.render": ({ text }) => ({ text: `<p>${escaped(text)}</p>` }),
    "writer.hook.polish": ({ text }) => ({ text: text.trim() }),
    "writer.hook.published": ({ text, at }) => console.error(`${at} ${text}`),
  },
}).start();
