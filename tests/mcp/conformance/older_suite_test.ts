import { conformanceTests } from "./conformance_tests.ts";

conformanceTests("mcp-conformance-0.1");
