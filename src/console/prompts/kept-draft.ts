/** What is typed into the editor of a prompt. This tab keeps it, also over a reload, until it is saved or discarded. */

import { useState } from 'react';
import type { PromptDraft } from './draft.ts';

type Kept = {
  /** The number of the version that the text was made from. */
  readonly base: number;
  readonly draft: PromptDraft;
};

const PREFIX = 'spandrel.prompt.';

function recall(id: string): Kept | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PREFIX + id) ?? 'null') as Kept | null;
    // An older console may have kept something else.
    return typeof kept?.base === 'number' && Array.isArray(kept.draft.messages) ? kept : null;
  } catch {
    return null;
  }
}

/** The storage may be full, or switched off: then the text lasts as long as the page. */
function keep(id: string, kept: Kept | null): void {
  try {
    if (kept === null) sessionStorage.removeItem(PREFIX + id);
    else sessionStorage.setItem(PREFIX + id, JSON.stringify(kept));
  } catch {
    // See above.
  }
}

/** `newest` is what is stored. */
export function useKeptDraft(id: string, newest: Kept) {
  const [kept, setKept] = useState(() => recall(id));
  const set = (next: Kept | null) => {
    keep(id, next);
    setKept(next);
  };
  const { base, draft } = kept ?? newest;
  return {
    base,
    draft,
    isChanged: kept !== null,
    change: (part: Partial<PromptDraft>) => set({ base, draft: { ...draft, ...part } }),
    /** The text is to follow another version. */
    rebase: (version: number) => set({ base: version, draft }),
    discard: () => set(null),
  };
}

export type KeptDraft = ReturnType<typeof useKeptDraft>;
