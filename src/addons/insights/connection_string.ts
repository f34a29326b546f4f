/**
 * Connection strings of Application Insights: `InstrumentationKey=…;IngestionEndpoint=https://…`.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";

/** The resource that figures are sent to. */
interface InsightsTarget {
  /** The key of the resource. It names it, and is no secret. */
  readonly key: string;
  /** URL that events are posted to. */
  readonly url: string;
}

const KEY = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const DEFAULT_ENDPOINT = "https://dc.services.visualstudio.com";

/** Reads a connection string. Throws `addons.invalid_option` with the part that is wrong. */
export function readConnectionString(text: string): InsightsTarget {
  const parts = new Map(
    text.split(";").filter((part) => part.trim() !== "").map((part): [string, string] => {
      const at = part.indexOf("=");
      if (at < 1) throw invalid("it is no list of name=value pairs with ; between them");
      return [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()];
    }),
  );
  const key = parts.get("instrumentationkey") ?? "";
  if (!KEY.test(key)) throw invalid("its InstrumentationKey is missing, or no UUID");
  const suffix = parts.get("endpointsuffix");
  const endpoint = parts.get("ingestionendpoint") ?? (suffix ? `https://dc.${suffix}` : DEFAULT_ENDPOINT);
  const url = URL.parse(endpoint);
  const isOpen = url?.protocol === "http:" && LOOPBACK.includes(url.hostname);
  if (url === null || (url.protocol !== "https:" && !isOpen)) throw invalid("its IngestionEndpoint is no https:// URL");
  if (url.username !== "" || url.password !== "") throw invalid("its IngestionEndpoint holds a user or a password");
  return { key, url: `${url.origin}${url.pathname.replace(/\/+$/, "")}/v2.1/track` };
}

function invalid(problem: string): HostError {
  return new HostError("addons.invalid_option", `The connection string cannot be used: ${problem}`, {
    data: { option: "connectionString" },
    hint: "Copy it from the resource's overview in the Azure portal: InstrumentationKey=…;IngestionEndpoint=https://…",
  });
}
