/** Leads to the comparison of a trace with another one. */

import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, buttonClass } from '../design/button.tsx';
import { TextField } from '../design/form.tsx';
import page from '../design/page.module.css';
import { useProject } from '../session/session.tsx';
import { Section } from '../trace/section.tsx';

const STORED = 'spandrel-traces-opened';
const ID_CHARACTERS = 200;
const LOOKED_BACK_MS = 7 * 86_400_000;
const STALE_MS = 300_000;

export function CompareWith({ trace }: { readonly trace: Trace }) {
  const { traceId } = trace;
  const { slug, id } = useProject();
  const navigate = useNavigate();
  const [before] = useState(() => openedBefore(id, traceId));
  const [typed, setTyped] = useState('');
  const other = typed.trim();
  const good = useLastGood(trace);
  return (
    <Section title="Compare">
      {good !== null && (
        <p>
          <Link
            to="/$slug/compare"
            params={{ slug }}
            search={{ a: good, b: traceId }}
            className={buttonClass(undefined, true)}
          >
            With the last good one
          </Link>
        </p>
      )}
      {before !== null && (
        <p>
          <Link
            to="/$slug/compare"
            params={{ slug }}
            search={{ a: before, b: traceId }}
            className={buttonClass(undefined, true)}
          >
            With the trace opened before
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

/** The last trace of the same name before a failed one that did not fail. */
function useLastGood({ name, error, timestamps }: Trace): string | null {
  const endMs = timestamps?.startedAt ? timestampMs(timestamps.startedAt) : 0;
  const input = {
    filters: [
      { name: 'traces.name', values: [name] },
      { name: 'traces.error', values: ['false'] },
    ],
    startDate: timestampFromMs(Math.max(0, endMs - LOOKED_BACK_MS)),
    endDate: timestampFromMs(endMs),
    pageSize: 1,
  };
  const options = { enabled: error !== undefined && name !== '', staleTime: STALE_MS };
  const { data } = useQuery(TraceService.method.searchTraces, input, options);
  const view = data?.traces[0]?.view;
  return view?.case === 'trace' ? view.value.traceId : null;
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
