import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { useMutation } from '@tanstack/react-query';
import { useParams, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { joined } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import controls from '../design/controls.module.css';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import type { ProjectRef } from '../session/account.ts';
import { useSession } from '../session/session.tsx';
import { createTransport } from '../session/transport.ts';
import { type NavItem, ORGANIZATION_ITEMS, PROJECT_ITEMS } from './navigation.ts';
import styles from './palette.module.css';

/** A page, or a trace to search for. */
type Goal = { readonly label: string; readonly href: string } | { readonly label: string; readonly traceId: string };

const SHOWN_MAX = 12;
/** A trace id or its prefix. Other input searches the pages. */
const TRACE_ID = /^\S{4,200}$/;

export default function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal onClose={onClose} title="Go to" closedBy="anything">
      <Choice onDone={onClose} />
    </Modal>
  );
}

function useGoals(text: string): readonly Goal[] {
  const { account, may } = useSession();
  const router = useRouter();
  const offered = ({ permission }: NavItem) => may(permission);
  const ofProjects = account.projects.flatMap(({ name, slug }) =>
    PROJECT_ITEMS.filter(offered).map(({ label, to }) => ({
      label: account.projects.length > 1 ? `${label} of ${name}` : label,
      href: router.buildLocation({ to, params: { slug } }).href,
    })),
  );
  const ofOrganization = account.isOfProject ? [] : ORGANIZATION_ITEMS.filter(offered);
  const goals = [
    ...ofProjects,
    ...ofOrganization.map(({ label, to }) => ({ label, href: router.buildLocation({ to }).href })),
  ];
  const wanted = text.trim();
  const found = goals.filter(({ label }) => label.toLowerCase().includes(wanted.toLowerCase())).slice(0, SHOWN_MAX);
  if (!TRACE_ID.test(wanted)) return found;
  return [...found, { label: `Trace ${nameControls(wanted)}`, traceId: wanted }];
}

function Choice({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const router = useRouter();
  const goals = useGoals(text);
  const search = useTraceSearch((href) => {
    onDone();
    router.history.push(href);
  });
  const go = (goal: Goal | undefined) => {
    if (!goal || search.isPending) return;
    if ('traceId' in goal) return search.mutate(goal);
    onDone();
    router.history.push(goal.href);
  };
  return (
    <div className={styles.choice}>
      <input
        className={controls.input}
        role="combobox"
        aria-label="Page or trace id"
        aria-expanded
        aria-controls="goals"
        aria-activedescendant={goals[at] ? `goal-${at}` : undefined}
        placeholder="Page name or trace id"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          search.reset();
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (event.key === 'Enter') go(goals[at]);
          else if (step !== undefined) setAt((at + step + goals.length) % Math.max(1, goals.length));
          else return;
          event.preventDefault();
        }}
      />
      <div id="goals" role="listbox" aria-label="Results">
        {goals.map((goal, index) => (
          <div
            key={'href' in goal ? goal.href : 'trace'}
            id={`goal-${index}`}
            role="option"
            aria-selected={index === at}
            className={joined(styles.goal, index === at && styles.current)}
            onClick={() => go(goal)}
          >
            {goal.label}
          </div>
        ))}
      </div>
      <div role="status">
        {search.isPending && 'Looking for the trace…'}
        {search.data === null && 'No project you can access has this trace.'}
      </div>
      {search.isError && <FailureNotice error={search.error} />}
    </div>
  );
}

/** Searches the current project first, then the others. Other text, or closing the dialog, ends the search. */
function useTraceSearch(onFound: (href: string) => void) {
  const { account } = useSession();
  const router = useRouter();
  const { slug: shown } = useParams({ strict: false });
  const ended = useRef(new AbortController());
  useEffect(() => () => ended.current.abort(), []);
  const projects = account.projects.toSorted((one, other) => Number(other.slug === shown) - Number(one.slug === shown));
  const search = useMutation({
    mutationFn({ traceId }: { readonly traceId: string }) {
      ended.current = new AbortController();
      return findTrace(projects, { traceId, signal: ended.current.signal });
    },
    onSuccess(found) {
      if (found === null) return;
      onFound(router.buildLocation({ to: '/$slug/traces/$traceId', params: found }).href);
    },
  });
  const reset = () => {
    ended.current.abort();
    search.reset();
  };
  return { ...search, reset };
}

const SEARCHED_AT_ONCE = 8;
/** The trace is not in the project, or the key may not read it. */
const NOT_FOUND_CODES: ReadonlySet<Code> = new Set([Code.NotFound, Code.PermissionDenied]);

type FoundTrace = { readonly slug: string; readonly traceId: string };

type Wanted = {
  /** An id or its prefix, as the api accepts it. */
  readonly traceId: string;
  readonly signal: AbortSignal;
};

/**
 * Null if no project has the trace. The api needs a project per call, so this asks for the projects one by one.
 */
async function findTrace(projects: readonly ProjectRef[], wanted: Wanted): Promise<FoundTrace | null> {
  for (let at = 0; at < projects.length; at += SEARCHED_AT_ONCE) {
    const searches = projects.slice(at, at + SEARCHED_AT_ONCE).map((project) => findIn(project, wanted));
    const found = (await Promise.all(searches)).find((each) => each !== null);
    if (found) return found;
  }
  return null;
}

async function findIn({ id, slug }: ProjectRef, { traceId, signal }: Wanted): Promise<FoundTrace | null> {
  try {
    const client = createClient(TraceService, createTransport(id));
    const { view } = await client.getTrace({ traceId, pageSize: 1 }, { signal });
    return view.case === 'trace' ? { slug, traceId: view.value.traceId } : null;
  } catch (error) {
    if (NOT_FOUND_CODES.has(ConnectError.from(error).code)) return null;
    throw error;
  }
}
