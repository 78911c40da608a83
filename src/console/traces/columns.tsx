/** The columns of the trace list. */

import type { ReactNode } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { countSaid } from '../annotations/said.ts';
import { Badge } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import { ThreadLink, UserLink } from './metadata-links.tsx';
import type { SortName } from './search.ts';
import { metadataOf, verdictOf } from './trace-facts.ts';
import styles from './trace-table.module.css';

export type Column = {
  readonly label: string;
  readonly width: string;
  readonly isNumber?: true;
  readonly sort?: SortName | 'started';
  readonly cell: (trace: Trace) => ReactNode;
  /** The whole of a text that a cell may cut. */
  readonly tip?: (trace: Trace) => string;
};

/** In their order. */
export const COLUMNS: Readonly<Record<string, Column>> = {
  started: {
    label: 'Started',
    width: '144px',
    sort: 'started',
    cell: ({ timestamps }) => <Instant at={timestamps?.startedAt} as="short" />,
  },
  name: {
    label: 'Name',
    width: 'minmax(160px, 1.5fr)',
    cell: ({ error, name, traceId }) => (
      <>
        {error && (
          // Else the badge would decide on the direction of the text.
          <bdi>
            <Badge tone="bad">Failed</Badge>{' '}
          </bdi>
        )}
        {preview(name) || traceId}
      </>
    ),
    tip: ({ name, traceId }) => preview(name) || traceId,
  },
  input: {
    label: 'Input',
    width: 'minmax(120px, 1.6fr)',
    cell: ({ input }) => preview(input?.value),
    tip: ({ input }) => tip(input?.value),
  },
  output: {
    label: 'Output or error',
    width: 'minmax(120px, 1.6fr)',
    cell: ({ error, output }) =>
      error ? <span className={styles.error}>{preview(error.message)}</span> : preview(output?.value),
    tip: ({ error, output }) => tip(error ? error.message : output?.value),
  },
  user: {
    label: 'User',
    width: 'minmax(80px, 0.7fr)',
    cell: (trace) => {
      const { user } = metadataOf(trace);
      return user && <UserLink user={user}>{preview(user)}</UserLink>;
    },
  },
  thread: {
    label: 'Thread',
    width: 'minmax(80px, 0.7fr)',
    cell: (trace) => {
      const { thread } = metadataOf(trace);
      return thread && <ThreadLink thread={thread}>{preview(thread)}</ThreadLink>;
    },
  },
  feedback: {
    label: 'Feedback',
    width: '140px',
    cell: countSaid,
  },
  labels: {
    label: 'Labels',
    width: 'minmax(80px, 0.7fr)',
    cell: (trace) => preview(metadataOf(trace).labels.join(', ')),
    tip: (trace) => tip(metadataOf(trace).labels.join(', ')),
  },
  models: {
    label: 'Model',
    width: 'minmax(130px, 1.1fr)',
    cell: ({ models }) => preview(models.join(', ')),
    tip: ({ models }) => tip(models.join(', ')),
  },
  evaluations: {
    label: 'Evaluations',
    width: '96px',
    cell: (trace) => {
      const verdict = verdictOf(trace);
      return verdict && <Badge tone={verdict.tone}>{verdict.text}</Badge>;
    },
  },
  tokens: {
    label: 'Tokens',
    width: '82px',
    isNumber: true,
    cell: ({ metrics }) => formatCount(sum(metrics?.promptTokens, metrics?.completionTokens)),
  },
  cost: {
    label: 'Cost',
    width: '108px',
    isNumber: true,
    sort: 'cost',
    cell: ({ metrics }) => formatCost(metrics?.totalCost),
  },
  firstToken: {
    label: 'First token',
    width: '96px',
    isNumber: true,
    sort: 'first-token',
    cell: ({ metrics }) => formatDuration(metrics?.firstTokenMs),
  },
  duration: {
    label: 'Duration',
    width: '92px',
    isNumber: true,
    sort: 'duration',
    cell: ({ metrics }) => formatDuration(metrics?.totalTimeMs),
  },
};

const SHOWN_BY_DEFAULT = 'started,name,input,output,models,tokens,cost,duration';

/** The columns that the address lists, or the default. */
export function shownColumns(listed: string | undefined): readonly string[] {
  const chosen = (listed ?? '').split(',').filter((id) => Object.hasOwn(COLUMNS, id));
  return chosen.length > 0 ? chosen : SHOWN_BY_DEFAULT.split(',');
}

/** Undefined for the default. */
export function listColumns(shown: readonly string[]): string | undefined {
  return shown.length === 0 || shown.join() === SHOWN_BY_DEFAULT ? undefined : shown.join();
}

const PREVIEW_CHARACTERS = 300;

const TIP_CHARACTERS = 1_000;

function tip(text: string | undefined): string {
  return nameControls((text ?? '').slice(0, TIP_CHARACTERS));
}

/** Cuts a text to one line, which is all that a row shows. */
function preview(text: string | undefined): string {
  return nameControls((text ?? '').slice(0, PREVIEW_CHARACTERS).replace(/\s+/g, ' '));
}

function sum(one: bigint | undefined, other: bigint | undefined): bigint | null {
  return one === undefined && other === undefined ? null : (one ?? 0n) + (other ?? 0n);
}
