import { frameworkTests } from "../support/frameworks.ts";

await frameworkTests("claude_agent", "@anthropic-ai/claude-agent-sdk");
