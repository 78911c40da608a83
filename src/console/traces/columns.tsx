/** The columns of the trace list. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { columnVisibilityFeature, createColumnHelper, tableFeatures } from '@tanstack/react-table';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import { ThreadLink, UserLink } from './metadata-links.tsx';
import { metadataOf, verdictOf } from './trace-facts.ts';

export const features = tableFeatures({ columnVisibilityFeature });

type ColumnSize = {
  readonly width: string;
  readonly isNumber?: true;
  readonly sort?: 'cost' | 'duration' | 'first-token' | 'started';
};

/** The width of each column, and its sort order. */
export const SIZES: Readonly<Record<string, ColumnSize>> = {
  started: { width: '150px', sort: 'started' },
  name: { width: 'minmax(160px, 1.5fr)' },
  input: { width: 'minmax(120px, 1.6fr)' },
  output: { width: 'minmax(120px, 1.6fr)' },
  user: { width: 'minmax(80px, 0.7fr)' },
  thread: { width: 'minmax(80px, 0.7fr)' },
  labels: { width: 'minmax(80px, 0.7fr)' },
  models: { width: 'minmax(130px, 1.1fr)' },
  evaluations: { width: '96px' },
  tokens: { width: '82px', isNumber: true },
  cost: { width: '84px', isNumber: true, sort: 'cost' },
  firstToken: { width: '96px', isNumber: true, sort: 'first-token' },
  duration: { width: '92px', isNumber: true, sort: 'duration' },
};

export const SHOWN_BY_DEFAULT: readonly string[] = [
  'started',
  'name',
  'input',
  'output',
  'models',
  'tokens',
  'cost',
  'duration',
];

const PREVIEW_CHARACTERS = 300;

/** Cuts a text to one line, which is all that a row shows. */
function preview(text: string | undefined): string {
  return nameControls((text ?? '').slice(0, PREVIEW_CHARACTERS).replace(/\s+/g, ' '));
}

const helper = createColumnHelper<typeof features, Trace>();

export const columns = helper.columns([
  helper.accessor((trace) => (trace.timestamps?.startedAt ? timestampMs(trace.timestamps.startedAt) : 0), {
    id: 'started',
    header: 'Started',
    cell: ({ row }) => <Instant at={row.original.timestamps?.startedAt} as="short" />,
  }),
  helper.accessor('name', {
    id: 'name',
    header: 'Name',
    cell: ({ row: { original } }) => (
      <>
        {original.error && <Badge tone="bad">Failed</Badge>} {preview(original.name) || original.traceId}
      </>
    ),
  }),
  helper.accessor((trace) => trace.input?.value, {
    id: 'input',
    header: 'Input',
    cell: ({ getValue }) => preview(getValue()),
  }),
  helper.accessor((trace) => trace.error?.message ?? trace.output?.value, {
    id: 'output',
    header: 'Output',
    cell: ({ getValue }) => preview(getValue()),
  }),
  helper.accessor((trace) => metadataOf(trace).user, {
    id: 'user',
    header: 'User',
    cell: ({ getValue }) => {
      const user = getValue();
      return user && <UserLink user={user}>{preview(user)}</UserLink>;
    },
  }),
  helper.accessor((trace) => metadataOf(trace).thread, {
    id: 'thread',
    header: 'Thread',
    cell: ({ getValue }) => {
      const thread = getValue();
      return thread && <ThreadLink thread={thread}>{preview(thread)}</ThreadLink>;
    },
  }),
  helper.accessor((trace) => metadataOf(trace).labels.join(', '), {
    id: 'labels',
    header: 'Labels',
    cell: ({ getValue }) => preview(getValue()),
  }),
  helper.accessor((trace) => trace.models.join(', '), {
    id: 'models',
    header: 'Model',
    cell: ({ getValue }) => preview(getValue()),
  }),
  helper.display({
    id: 'evaluations',
    header: 'Evaluations',
    cell: ({ row }) => {
      const verdict = verdictOf(row.original);
      return verdict && <Badge tone={verdict.tone}>{verdict.text}</Badge>;
    },
  }),
  helper.accessor((trace) => sum(trace.metrics?.promptTokens, trace.metrics?.completionTokens), {
    id: 'tokens',
    header: 'Tokens',
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  helper.accessor((trace) => trace.metrics?.totalCost, {
    id: 'cost',
    header: 'Cost',
    cell: ({ getValue }) => formatCost(getValue()),
  }),
  helper.accessor((trace) => trace.metrics?.firstTokenMs, {
    id: 'firstToken',
    header: 'First token',
    cell: ({ getValue }) => formatDuration(getValue()),
  }),
  helper.accessor((trace) => trace.metrics?.totalTimeMs, {
    id: 'duration',
    header: 'Duration',
    cell: ({ getValue }) => formatDuration(getValue()),
  }),
]);

function sum(one: bigint | undefined, other: bigint | undefined): bigint | null {
  return one === undefined && other === undefined ? null : (one ?? 0n) + (other ?? 0n);
}
