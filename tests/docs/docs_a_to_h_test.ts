import { holdGuides } from "./support/hold_guides.ts";

// Guides are walks that take long: a few files share them.
await holdGuides(/^docs\/[a-h]/);
