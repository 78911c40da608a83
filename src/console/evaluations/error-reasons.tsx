/** Why evaluations failed, or were all skipped: the messages of the newest ones, each with a trace that has it. */

import { useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { EvaluationStatus, type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import controls from '../design/controls.module.css';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';
import { writeQueryLine } from '../traces/query-line.ts';
import { type RangeSearch, readBounds, withNamedRange } from '../traces/range.ts';
import { toRangeInput } from '../traces/search-input.ts';

const TRACES_READ = 50;
const REASONS_SHOWN = 5;
const MESSAGE_CHARACTERS = 500;

const STATES = {
  error: {
    status: EvaluationStatus.ERROR,
    title: 'Why evaluations failed',
    all: 'All traces with an evaluation error',
  },
  skipped: {
    status: EvaluationStatus.SKIPPED,
    title: 'Why evaluations were skipped',
    all: 'All traces whose evaluation was skipped',
  },
} as const;

type ErrorReasonsProps = {
  readonly state: keyof typeof STATES;
  readonly slug: string;
  readonly evaluatorId: string;
  /** Only those of this monitor. */
  readonly monitorId: string | undefined;
  readonly range: RangeSearch;
};

export function ErrorReasons({ state, slug, evaluatorId, monitorId, range }: ErrorReasonsProps) {
  const { may } = useSession();
  const { from, to } = range;
  const { fromMs, toMs, isOpen } = readBounds(range);
  // An open range ends now: without whole minutes every drawing would ask again.
  const minute = (ms: number) => Math.floor(ms / 60_000) * 60_000;
  const bounds = from || to ? { fromMs, toMs, isOpen } : { fromMs: minute(fromMs), toMs, isOpen };
  const found = useQuery(
    TraceService.method.searchTraces,
    {
      filters: [{ name: 'evaluations.state', key: evaluatorId, values: [state] }],
      ...toRangeInput(bounds),
      pageSize: TRACES_READ,
    },
    { enabled: may('traces:view') },
  );
  if (!may('traces:view')) return null;
  if (!found.isSuccess) return <Pending found={found} />;
  const traces = found.data.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : []));
  const reasons = reasonsOf(traces, { state, evaluatorId, monitorId });
  if (reasons.length === 0) return null;
  const all = {
    ...withNamedRange(range),
    q: writeQueryLine({ text: '', filters: [{ name: `state.${evaluatorId}`, value: state }] }),
  };
  return (
    <section className={controls.notice} aria-label={STATES[state].title}>
      <h2 className={controls.noticeTitle}>{STATES[state].title}</h2>
      <ul className={controls.reasons}>
        {reasons.map(({ message, count, traceId }) => (
          <li key={message}>
            <p className={page.prose}>{nameControls(message)}</p>
            <span className={page.soft}>
              {count === 1 ? 'One of the newest' : `${formatCount(count)} of the newest`} ·{' '}
              <Link to="/$slug/traces/$traceId" params={{ slug, traceId }} className={page.underlined}>
                an example
              </Link>
            </span>
          </li>
        ))}
      </ul>
      <Link to="/$slug/traces" params={{ slug }} search={all} className={page.underlined}>
        {STATES[state].all}
      </Link>
    </section>
  );
}

type Reason = { readonly message: string; readonly count: number; readonly traceId: string };

/** The most frequent first. */
function reasonsOf(
  traces: readonly Trace[],
  { state, evaluatorId, monitorId }: Pick<ErrorReasonsProps, 'state' | 'evaluatorId' | 'monitorId'>,
): readonly Reason[] {
  const errors = traces.flatMap(({ traceId, evaluations }) =>
    evaluations
      .filter((each) => each.status === STATES[state].status && each.evaluatorId === evaluatorId)
      .filter((each) => monitorId === undefined || each.monitorId === monitorId)
      .map((each) => ({
        traceId,
        message: (each.error?.message || each.details || 'It gave no reason.').slice(0, MESSAGE_CHARACTERS),
      })),
  );
  return [...Map.groupBy(errors, ({ message }) => message)]
    .map(([message, same]) => ({ message, count: same.length, traceId: same[0]?.traceId ?? '' }))
    .sort((one, other) => other.count - one.count)
    .slice(0, REASONS_SHOWN);
}
