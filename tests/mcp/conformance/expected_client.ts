/** Scenarios of the official conformance suites, as a client, that a host does not pass, each with the reason. */
const EXPECTED_FAILURES: Readonly<Record<string, string>> = {
  "auth/client-credentials-jwt": "extension: a client that proves itself by a signed assertion",
  "auth/client-credentials-basic": "extension: a login without a person",
  "auth/cross-app-access-complete-flow": "extension: tokens of a company's identity provider are exchanged",
  "auth/enterprise-managed-authorization": "extension: tokens of a company's identity provider are exchanged",
  "auth/dpop": "extension: tokens bound to a key",
  "auth/dpop-nonce": "extension: tokens bound to a key",
  "auth/wif-jwt-bearer": "extension: the identity of a workload in place of a login",
  // The newer suite has the issuer right, and that scenario passes.
  "mcp-conformance-0.1 auth/2025-03-26-oauth-metadata-backcompat":
    "its metadata names another issuer than the address it is at, which RFC 8414 §3.3 has a client refuse",
};

/** Returns why a scenario of a suite is expected to fail; null where it is not. */
export function expectedFailure(suite: string, scenario: string): string | null {
  return EXPECTED_FAILURES[`${suite} ${scenario}`] ?? EXPECTED_FAILURES[scenario] ?? null;
}

/** Scenarios that check nothing of a client that has no use for what they are about. */
export const NOTHING_CHECKED: Readonly<Record<string, string>> = {
  "sep-2640-client-no-prefetch": "extension: skills, which a host passes on as resources and does not load",
  "sep-2640-client-verify-digest": "extension: skills",
  "sep-2640-client-verify-size": "extension: skills",
  "sep-2640-client-verify-frontmatter": "extension: skills",
};
