// The echo tool as a plugin author writes it with our SDK.
import { createPlugin } from "./kaged_sdk.js";

const echo = () => ({ status: "ok", items: [1, 2, 3], note: "the quick brown fox" });
createPlugin({ name: "sdk", version: "1.0.0", tools: { echo } }).start();
