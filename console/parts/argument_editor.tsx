/**
 * The arguments of a call as JSON that a person may change before allowing it.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ApiError } from "../model/api.ts";

/** A draft of arguments; the problem is the page's own or the host's. */
export function ArgumentEditor({ id, draft, problem, onDraft, onDiscard, onLeave }: {
  id: string;
  draft: string;
  problem: Pick<ApiError, "message" | "hint"> | null;
  onDraft: (draft: string) => void;
  onDiscard: () => void;
  /** The person pressed Escape: the draft stays. */
  onLeave: () => void;
}): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(0, 0);
    field.current?.scrollTo(0, 0);
  }, []);
  return (
    <div class="editor">
      <label for={`${id}-json`}>Arguments to send, as JSON</label>
      <textarea
        id={`${id}-json`}
        ref={field}
        class="mono"
        rows={Math.min(18, Math.max(4, draft.split("\n", 20).length + 1))}
        spellcheck={false}
        value={draft}
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem ? `${id}-problem` : `${id}-help`}
        onInput={({ currentTarget }) => onDraft(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onLeave();
        }}
      />
      {problem
        ? (
          <p id={`${id}-problem`} class="field-error" role="alert">
            {problem.message}
            {problem.hint && <span class="hint">{problem.hint}</span>}
          </p>
        )
        : <p id={`${id}-help`} class="hint">Leave [secret:…] where it stands: the host puts the value back.</p>}
      <p>
        <button type="button" class="link" onClick={onDiscard}>Discard changes</button>
      </p>
    </div>
  );
}
