import { frameworkTests } from "../support/frameworks.ts";

await frameworkTests("mastra", "@mastra/core");
