/**
 * The console: a page that shows the capabilities and the activity of plugins, and turns their knobs.
 *
 * @module
 */
import { effect } from "@preact/signals";
import { type JSX, render } from "preact";
import { token } from "./model/api.ts";
import { refresh, stayConnected } from "./model/live.ts";
import { place } from "./model/route.ts";
import { approvals, connection, instances } from "./model/state.ts";
import "./model/theme.ts";
import { Layout } from "./parts/layout.tsx";
import { Empty } from "./parts/states.tsx";
import { AgentsView } from "./views/agents.tsx";
import { ApprovalsView } from "./views/approvals.tsx";
import { AuditView } from "./views/audit.tsx";
import { ConsentsView } from "./views/consents.tsx";
import { JobsView } from "./views/jobs.tsx";
import { PluginView } from "./views/plugin.tsx";
import { PluginsView } from "./views/plugins.tsx";
import { SignInView } from "./views/sign_in.tsx";
import { TimelineView } from "./views/timeline.tsx";

function App(): JSX.Element {
  if (token.value === null) return <SignInView />;
  return (
    <Layout>
      <View />
    </Layout>
  );
}

function View(): JSX.Element {
  const { view, about, tab } = place.value;
  switch (view) {
    case "plugins":
      return about === null ? <PluginsView /> : <PluginView key={about} name={about} tab={tab ?? "overview"} />;
    case "approvals":
      return <ApprovalsView part={about ?? "waiting"} />;
    case "consents":
      return <ConsentsView />;
    case "compaction":
      return <AgentsView path={about} />;
    case "timeline":
      return <TimelineView />;
    case "audit":
      return <AuditView />;
    case "jobs":
      return <JobsView />;
    default:
      return <Empty title="There is no such view" />;
  }
}

let over = new AbortController();
effect(() => {
  over.abort();
  over = new AbortController();
  connection.value = "connecting";
  instances.value = null;
  approvals.value = null;
  if (token.value !== null) void stayConnected(over.signal);
});
// Some changes, such as a new session, have no event: they are loaded when the person returns to the page.
addEventListener("focus", () => {
  if (token.value !== null && connection.value === "live") void refresh().catch(() => {});
});

const root = document.getElementById("app")!;
root.replaceChildren();
render(<App />, root);
