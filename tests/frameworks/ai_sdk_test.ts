import { frameworkTests } from "../support/frameworks.ts";

await frameworkTests("ai_sdk", "ai");
