import { frameworkTests } from "../support/frameworks.ts";

await frameworkTests("langchain", "langchain");
