/** Deletes all traces that a search finds: counts them first, and shows how far the deletion is. */

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import {
  type TraceDeletion,
  TraceDeletionService,
  TraceDeletionStatus,
} from '../../../gen/spandrel/v1/trace_deletions_pb.js';
import { Button, Progress } from '../design/button.tsx';
import { Confirm, Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatInstant, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useRefresh } from '../session/refresh.ts';
import { parseQueryLine, type SentFilter } from './query-line.ts';
import { readBounds } from './range.ts';
import type { FinderSearch } from './search.ts';
import { toFilterInput, toRangeInput } from './search-input.ts';
import { wordsOfSearch } from './search-words.ts';

const POLL_INTERVAL_MS = 1_000;

type Conditions = {
  readonly query?: string;
  readonly filters?: SentFilter[];
  readonly negateFilters?: boolean;
  readonly startDate?: Timestamp;
  readonly endDate?: Timestamp;
  readonly traceIds?: string[];
};

type DeleteTracesProps = {
  /** The text of the button, which is also the title of its dialog. */
  readonly label: string;
  /** Which traces to take, as the button is pressed: an open range ends then. */
  readonly conditions: () => Conditions;
  /** Called when the dialog of a deletion that has begun is closed. */
  readonly onBegun?: () => void;
  /** Names the traces in words. */
  readonly children: (conditions: Conditions) => ReactNode;
};

export function DeleteTraces({ label, conditions, onBegun, children }: DeleteTracesProps) {
  const [taken, setTaken] = useState<Conditions | null>(null);
  const close = () => setTaken(null);
  return (
    <>
      <Button variant="danger" onClick={() => setTaken(conditions())}>
        {label}…
      </Button>
      {taken && (
        <Deletion
          title={label}
          conditions={taken}
          onClose={(isBegun) => {
            close();
            if (isBegun) onBegun?.();
          }}
        >
          {children(taken)}
        </Deletion>
      )}
    </>
  );
}

type DeleteFoundProps = { readonly search: FinderSearch; readonly label?: string };

/** Deletes what the list of traces finds, unless a part of its line is left out: the list would show more than it says. */
export function DeleteFound({ search, label = 'Delete these traces' }: DeleteFoundProps) {
  const { empty, unreadable } = parseQueryLine(search.q ?? '');
  if (empty.length > 0 || unreadable.length > 0) return null;
  return (
    <DeleteTraces
      label={label}
      conditions={() => ({ ...toFilterInput(search), ...toRangeInput({ ...readBounds(search), isOpen: false }) })}
    >
      {({ startDate, endDate, ...sent }) => (
        <p>
          All traces from {formatInstant(startDate)} to {formatInstant(endDate)}
          {wordsOfSearch(sent).map(({ words, code }, index) => (
            <Fragment key={words}>
              {` ${index === 0 ? 'that' : 'and'} ${words} `}
              <code>{nameControls(code)}</code>
            </Fragment>
          ))}
          .
        </p>
      )}
    </DeleteTraces>
  );
}

type DeletionProps = {
  readonly title: string;
  readonly conditions: Conditions;
  readonly onClose: (isBegun: boolean) => void;
  readonly children: ReactNode;
};

function Deletion({ title, conditions, onClose, children }: DeletionProps) {
  const counted = useQuery(TraceDeletionService.method.previewTraceDeletion, conditions, { staleTime: 0, gcTime: 0 });
  const start = useMutation(TraceDeletionService.method.createTraceDeletion);
  const begun = start.data?.deletion;
  if (begun) {
    return (
      <Modal title={title} onClose={() => onClose(true)}>
        <HowFar begun={begun} onClose={() => onClose(true)} />
      </Modal>
    );
  }
  if (!counted.data || counted.data.tracesFound === 0n) {
    return (
      <Modal title={title} onClose={() => onClose(false)}>
        {children}
        <Pending found={counted} />
        {counted.data && <p role="status">No trace matches.</p>}
        <div>
          <Button onClick={() => onClose(false)}>Close</Button>
        </div>
      </Modal>
    );
  }
  return (
    <Confirm
      title={title}
      action="Delete permanently"
      typed="delete"
      call={start}
      onClose={() => onClose(false)}
      onConfirm={() => start.mutate(conditions)}
    >
      {children}
      <p>
        <strong>
          {formatCount(counted.data.tracesFound)}
          {!counted.data.isFoundExactly && ' or more'}
        </strong>{' '}
        {counted.data.tracesFound === 1n ? 'trace goes' : 'traces go'}, with spans and evaluations. This cannot be
        undone.
      </p>
    </Confirm>
  );
}

/** The progress of a deletion until it has ended. */
function HowFar({ begun, onClose }: { readonly begun: TraceDeletion; readonly onClose: () => void }) {
  const found = useQuery(
    TraceDeletionService.method.getTraceDeletion,
    { traceDeletionId: begun.id },
    { refetchInterval: ({ state }) => (isRunning(state.data?.deletion ?? begun) ? POLL_INTERVAL_MS : false) },
  );
  const deletion = found.data?.deletion ?? begun;
  const cancel = useMutation(TraceDeletionService.method.cancelTraceDeletion, { onSuccess: () => found.refetch() });
  const goesOn = isRunning(deletion);
  useRefreshAtEnd(goesOn);
  const all = Number(deletion.tracesFound ?? 0n);
  return (
    <>
      {goesOn && (
        <Progress label="Deleted traces" done={Math.min(all, Number(deletion.deleted))} all={Math.max(1, all)} />
      )}
      <p role="status">
        {STATES[deletion.status]} {formatCount(deletion.deleted)}
        {goesOn && deletion.tracesFound !== undefined && ` of ${formatCount(deletion.tracesFound)}`}
        {goesOn && !deletion.isFoundExactly && ' or more'} {deletion.deleted === 1n ? 'trace' : 'traces'} deleted.
      </p>
      {goesOn && <p>It goes on when you close this.</p>}
      {deletion.error !== undefined && <p>{nameControls(deletion.error)}</p>}
      {(found.error ?? cancel.error) != null && <FailureNotice error={found.error ?? cancel.error} />}
      <div className={page.row}>
        <Button onClick={onClose}>Close</Button>
        {goesOn && (
          <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ traceDeletionId: deletion.id })}>
            Cancel the deletion
          </Button>
        )}
      </div>
    </>
  );
}

const STATES: { readonly [status: number]: string } = {
  [TraceDeletionStatus.RUNNING]: 'Deleting…',
  [TraceDeletionStatus.COMPLETED]: 'Done:',
  [TraceDeletionStatus.CANCELLED]: 'Cancelled:',
  [TraceDeletionStatus.FAILED]: 'Failed:',
};

function isRunning({ status }: TraceDeletion): boolean {
  return status === TraceDeletionStatus.RUNNING;
}

/** What the page shows is read again once the traces are gone. */
function useRefreshAtEnd(goesOn: boolean): void {
  const refresh = useRefresh();
  const wasRunning = useRef(true);
  useEffect(() => {
    if (wasRunning.current && !goesOn) void refresh();
    wasRunning.current = goesOn;
  });
}
