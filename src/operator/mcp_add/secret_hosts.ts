/**
 * The hosts that a secret goes to: those that the operator names, those of an address among the server's settings, or
 * those of a service that everybody knows by the name of its variable.
 *
 * @module
 */
import type { SecretNeed } from "./types.ts";

/** First words of variables → the service's host. */
const SERVICES: Readonly<Record<string, string>> = {
  AIRTABLE: "api.airtable.com",
  ANTHROPIC: "api.anthropic.com",
  APIFY: "api.apify.com",
  BRAVE: "api.search.brave.com",
  CLOUDFLARE: "api.cloudflare.com",
  DISCORD: "discord.com",
  ELEVENLABS: "api.elevenlabs.io",
  EXA: "api.exa.ai",
  FIGMA: "api.figma.com",
  FIRECRAWL: "api.firecrawl.dev",
  GITHUB: "api.github.com",
  GITLAB: "gitlab.com",
  GOOGLE_MAPS: "maps.googleapis.com",
  HUBSPOT: "api.hubapi.com",
  LINEAR: "api.linear.app",
  NOTION: "api.notion.com",
  OPENAI: "api.openai.com",
  OPENROUTER: "openrouter.ai",
  PERPLEXITY: "api.perplexity.ai",
  RESEND: "api.resend.com",
  SENTRY: "sentry.io",
  SLACK: "slack.com",
  STRIPE: "api.stripe.com",
  SUPABASE: "api.supabase.com",
  TAVILY: "api.tavily.com",
  TODOIST: "api.todoist.com",
  VERCEL: "api.vercel.com",
};

/** Ports of addresses that name none. */
const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
  "postgresql:": 5432,
  "mysql:": 3306,
  "mongodb:": 27017,
  "redis:": 6379,
  "rediss:": 6379,
  "ws:": 80,
  "wss:": 443,
};

/** Returns `host:port` of an address; null where the text is none with a host. */
export function hostOfUrl(text: string): string | null {
  const url = URL.parse(text);
  const port = url ? Number(url.port) || PORTS[url.protocol] : undefined;
  return url && url.hostname !== "" && port !== undefined ? `${url.hostname}:${port}` : null;
}

/** Returns the hosts that a secret may go to, as far as they are known; null where nothing says it. */
export function knownHosts({ carrier }: SecretNeed, env: Readonly<Record<string, string>>): string[] | null {
  if ("header" in carrier) return null;
  const [first = ""] = carrier.env.split("_");
  const near = Object.entries(env).filter(([name]) => name.startsWith(`${first}_`)).flatMap(([, value]) => {
    return /^https?:/.test(value) ? hostOfUrl(value) ?? [] : [];
  });
  if (near.length > 0) return [...new Set(near)];
  const service = Object.keys(SERVICES).find((name) => carrier.env === name || carrier.env.startsWith(`${name}_`));
  return service === undefined ? null : [`${SERVICES[service]}:443`];
}
