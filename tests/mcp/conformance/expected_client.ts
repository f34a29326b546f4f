/** Scenarios of the official conformance suite, as a client, that a host does not pass, each with the reason. */
export const EXPECTED_FAILURES: Readonly<Record<string, string>> = {
  "auth/client-credentials-jwt": "extension: a client that proves itself by a signed assertion",
  "auth/client-credentials-basic": "extension: a login without a person",
  "auth/cross-app-access-complete-flow": "extension: tokens of a company's identity provider are exchanged",
  "auth/enterprise-managed-authorization": "extension: tokens of a company's identity provider are exchanged",
  "auth/dpop": "extension: tokens bound to a key",
  "auth/dpop-nonce": "extension: tokens bound to a key",
  "auth/wif-jwt-bearer": "extension: the identity of a workload in place of a login",
};

/** Scenarios that check nothing of a client that has no use for what they are about. */
export const NOTHING_CHECKED: Readonly<Record<string, string>> = {
  "sep-2640-client-no-prefetch": "extension: skills, which a host passes on as resources and does not load",
  "sep-2640-client-verify-digest": "extension: skills",
  "sep-2640-client-verify-size": "extension: skills",
  "sep-2640-client-verify-frontmatter": "extension: skills",
};
