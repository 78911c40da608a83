/** Leads to the comparison of a trace with another one. */

import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass } from '../design/button.tsx';
import { TextField } from '../design/form.tsx';
import page from '../design/page.module.css';
import { useProject } from '../session/session.tsx';
import { Section } from '../trace/section.tsx';

const STORED = 'spandrel-traces-opened';
const ID_CHARACTERS = 200;

export function CompareWith({ traceId }: { readonly traceId: string }) {
  const { slug, id } = useProject();
  const navigate = useNavigate();
  const [before] = useState(() => openedBefore(id, traceId));
  const [typed, setTyped] = useState('');
  const other = typed.trim();
  return (
    <Section title="Compare">
      {before !== null && (
        <p>
          <Link
            to="/$slug/compare"
            params={{ slug }}
            search={{ a: before, b: traceId }}
            className={buttonClass(undefined, true)}
          >
            Compare with the trace opened before
          </Link>
        </p>
      )}
      <form
        className={page.lookup}
        onSubmit={(event) => {
          event.preventDefault();
          if (other !== '') void navigate({ to: '/$slug/compare', params: { slug }, search: { a: traceId, b: other } });
        }}
      >
        <TextField
          label="Id of another trace"
          maxLength={ID_CHARACTERS}
          spellCheck={false}
          value={typed}
          onChange={setTyped}
        />
        <Button type="submit" disabled={other === ''}>
          Compare
        </Button>
      </form>
    </Section>
  );
}

/** The trace that this tab showed before, of the same project; remembers the one that it shows now. */
function openedBefore(projectId: string, traceId: string): string | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    const opened = Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : [];
    const others = opened.filter((each) => each !== `${projectId} ${traceId}`);
    sessionStorage.setItem(STORED, JSON.stringify([`${projectId} ${traceId}`, ...others].slice(0, 2)));
    const last = others.find((each) => each.startsWith(`${projectId} `));
    return last === undefined ? null : last.slice(projectId.length + 1);
  } catch {
    // The browser keeps nothing for this page, or something else wrote there.
    return null;
  }
}
