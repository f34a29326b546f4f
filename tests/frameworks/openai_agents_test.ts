import { frameworkTests } from "../support/frameworks.ts";

await frameworkTests("openai_agents", "@openai/agents");
