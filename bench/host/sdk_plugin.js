// The echo tool as a plugin author writes it with our SDK, which the bench puts beside this file.
const { createPlugin } = await import(new URL("kaged_sdk.js", import.meta.url).href);

const echo = () => ({ status: "ok", items: [1, 2, 3], note: "the quick brown fox" });
createPlugin({ name: "sdk", version: "1.0.0", tools: { echo } }).start();
