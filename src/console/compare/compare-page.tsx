/** Two traces side by side: their figures, and their dialogues aligned, with the words that differ. */

import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { Check } from '../design/form.tsx';
import { formatCost, formatCount, formatDuration, NONE, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, Empty, Page, Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { createRunReader } from '../trace/conversation-run.ts';
import { useTrace } from '../trace/use-trace.ts';
import { alignTurns } from './align-turns.ts';
import { ComparedTurns } from './compared-turns.tsx';

const route = getRouteApi('/$slug/compare');

export default function ComparePage() {
  const { slug } = route.useParams();
  const { a = '', b = '' } = route.useSearch();
  return (
    <Page
      back={<Back to="/$slug/traces" params={{ slug }} label="Traces" />}
      title="Compare two traces"
      sub="The second one against the first one. What only the first says is struck through, what only the second says is underlined."
    >
      {a === '' || b === '' ? (
        <Empty title="Choose two traces">Open a trace, and compare it with another one from there.</Empty>
      ) : (
        <Compared key={`${a} ${b}`} a={a} b={b} />
      )}
    </Page>
  );
}

function Compared({ a, b }: { readonly a: string; readonly b: string }) {
  const [first, second] = [useTrace(a), useTrace(b)];
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const readers = useMemo(() => [createRunReader(), createRunReader()] as const, []);
  const rows = useMemo(() => {
    if (!first.trace || !second.trace) return [];
    return alignTurns(readers[0](first.trace, first.spans), readers[1](second.trace, second.spans));
  }, [readers, first.trace, first.spans, second.trace, second.spans]);
  if (!first.trace) return <Pending found={first.found} />;
  if (!second.trace) return <Pending found={second.found} />;
  const different = rows.filter(({ isSame }) => !isSame);
  return (
    <>
      <Figures first={first.trace} second={second.trace} />
      <div className={page.row}>
        <h2>Conversation</h2>
        <span className={page.soft} role="status">
          {rows.length === 0
            ? 'Nothing was said in either trace.'
            : `${formatCount(different.length)} of ${formatCount(rows.length)} messages differ`}
        </span>
        <Check checked={onlyDifferent} onChange={setOnlyDifferent}>
          Only what differs
        </Check>
      </div>
      <ComparedTurns rows={onlyDifferent ? different : rows} />
    </>
  );
}

type Figure = readonly [label: string, read: (trace: Trace) => number | null, format: (value: number | null) => string];

const FIGURES: readonly Figure[] = [
  ['Duration', ({ metrics }) => numberOf(metrics?.totalTimeMs), formatDuration],
  ['Cost', ({ metrics }) => metrics?.totalCost ?? null, formatCost],
  ['Input tokens', ({ metrics }) => numberOf(metrics?.promptTokens), formatCount],
  ['Output tokens', ({ metrics }) => numberOf(metrics?.completionTokens), formatCount],
  ['Spans', ({ spanCount }) => Number(spanCount), formatCount],
];

function numberOf(count: bigint | undefined): number | null {
  return count === undefined ? null : Number(count);
}

function Figures({ first, second }: { readonly first: Trace; readonly second: Trace }) {
  const rows: readonly (readonly [label: string, show: (trace: Trace) => ReactNode])[] = [
    ['Started', ({ timestamps }) => <Instant at={timestamps?.startedAt} as="short" />],
    ['Models', ({ models }) => nameControls(models.join(', ')) || NONE],
    ['Error', ({ error }) => (error ? <bdi>{nameControls(error.message.slice(0, ERROR_CHARACTERS))}</bdi> : 'none')],
  ];
  return (
    <Table columns={['Figure', 'First', 'Second', { number: 'Difference' }]}>
      <tr>
        <td>Trace</td>
        <td>
          <TraceLink trace={first} />
        </td>
        <td>
          <TraceLink trace={second} />
        </td>
        <td />
      </tr>
      {FIGURES.map(([label, read, format]) => (
        <tr key={label}>
          <td>{label}</td>
          <td>{format(read(first))}</td>
          <td>{format(read(second))}</td>
          <td className={page.number}>{differenceOf(read(first), read(second), format)}</td>
        </tr>
      ))}
      {rows.map(([label, show]) => (
        <tr key={label}>
          <td>{label}</td>
          <td>{show(first)}</td>
          <td>{show(second)}</td>
          <td />
        </tr>
      ))}
    </Table>
  );
}

const ERROR_CHARACTERS = 500;

function differenceOf(first: number | null, second: number | null, format: Figure[2]): string {
  if (first === null || second === null) return NONE;
  if (first === second) return 'the same';
  const sign = second > first ? '+' : '−';
  const share = first > 0 ? `, ${sign}${Math.round((100 * Math.abs(second - first)) / first)} %` : '';
  return `${sign}${format(Math.abs(second - first))}${share}`;
}

function TraceLink({ trace }: { readonly trace: Trace }) {
  const { slug } = route.useParams();
  return (
    <Link to="/$slug/traces/$traceId" params={{ slug, traceId: trace.traceId }} preload={false}>
      <bdi>{nameControls(trace.name) || trace.traceId}</bdi>
    </Link>
  );
}
