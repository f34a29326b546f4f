/**
 * The frame of every view: navigation, connection, theme.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { signOut } from "../model/api.ts";
import { linkTo, place } from "../model/route.ts";
import { approvals, connection, consents, hasMoreApprovals, host } from "../model/state.ts";
import { nameOf } from "../model/shown_values.ts";
import { nextTheme, theme } from "../model/theme.ts";
import { agentName } from "../model/words.ts";

const VIEWS: Readonly<Record<string, string>> = {
  plugins: "Plugins",
  approvals: "Approvals",
  consents: "Consent",
  compaction: "Compaction",
  timeline: "Timeline",
  audit: "Audit",
  jobs: "Jobs",
};
const LINES: Readonly<Record<string, string>> = { connecting: "connecting", live: "live", lost: "reconnecting" };

/** The frame with a view in it. */
export function Layout({ children }: { children: ComponentChildren }): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const { view, about } = place.value;
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${[about, VIEWS[view], host.value?.project.id].filter(Boolean).join(" · ")} – kaged`;
    // Moving the focus makes screen readers announce the new view.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [view, about]);
  return (
    <div class="page">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>Skip to content</button>
      <header class="side">
        <p class="brand">
          <img src="/icon.svg" alt="" width="22" height="22" /> kaged
        </p>
        <p class="project" title={host.value?.project.dir}>{host.value?.project.id ?? "…"}</p>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([name, text]) => <ViewLink key={name} name={name} text={text} open={view} />)}
        </nav>
        <div class="side-foot">
          <p class={`line ${connection.value}`} role="status">
            <span class="dot" aria-hidden="true" /> {LINES[connection.value]}
          </p>
          <button type="button" onClick={nextTheme}>Theme: {theme.value}</button>
          <button type="button" onClick={() => signOut()}>Sign out</button>
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {connection.value === "lost" && (
          <p class="notice bad" role="alert">
            The host does not answer. You see its last known state; the page reconnects by itself.
          </p>
        )}
        {children}
      </main>
      <Announcer />
    </div>
  );
}

function ViewLink({ name, text, open }: { name: string; text: string; open: string }): JSX.Element {
  const waiting = name === "consents"
    ? consents.value.filter(({ state }) => state === "waiting").length
    : name === "approvals"
    ? approvals.value?.length ?? 0
    : 0;
  return (
    <a href={linkTo(name)} aria-current={name === open ? "page" : undefined}>
      {text}
      {waiting > 0 && (
        <span class="count">
          {waiting}
          {name === "approvals" && hasMoreApprovals.value && "+"}
          <span class="sr-only">waiting</span>
        </span>
      )}
    </a>
  );
}

/** Says to screen readers, on every view, that another call waits for a person. */
function Announcer(): JSX.Element {
  const known = useRef<ReadonlySet<string> | null>(null);
  const [news, setNews] = useState("");
  const waiting = approvals.value;
  useEffect(() => {
    if (waiting === null) return;
    const fresh = waiting.filter(({ id }) => known.current !== null && !known.current.has(id));
    known.current = new Set(waiting.map(({ id }) => id));
    const last = fresh.at(-1);
    if (!last) return;
    const more = fresh.length > 1 ? `, and ${fresh.length - 1} more` : "";
    setNews(`${nameOf(last.tool)} of ${agentName(last.agent_path)} waits for approval${more}`);
  }, [waiting]);
  return <p class="sr-only" role="status" aria-label="New requests">{news}</p>;
}
