import { conformanceTests } from "./conformance_tests.ts";

conformanceTests("@modelcontextprotocol/conformance");
