/** Exports a search as a file, or as a curl command. */

import { useEffect, useRef, useState } from 'react';
import { Button, CopyButton, Progress } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Check } from '../design/form.tsx';
import { formatBytes, formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import { Popover } from '../design/popover.tsx';
import { useProject, useSession } from '../session/session.tsx';
import { sessionHeaders } from '../session/transport.ts';
import styles from './export.module.css';
import type { ExportProgress } from './export-traces.ts';
import type { TraceListSearch } from './search.ts';
import { curlOf, searchBody } from './search-body.ts';

type Run =
  | { readonly state: 'none' }
  | {
      readonly state: 'running' | 'done';
      readonly progress: ExportProgress;
      /** How many traces were named; null: all that the search finds. */
      readonly named: number | null;
    }
  | { readonly state: 'failed'; readonly error: unknown };

const NONE: Run = { state: 'none' };

export function useExport(search: TraceListSearch) {
  const { id, slug } = useProject();
  const [run, setRun] = useState<Run>(NONE);
  const abort = useRef<AbortController>(null);
  useEffect(() => () => abort.current?.abort(), []);
  /** `traceIds`: only these, whenever they began; else all that the search finds. */
  const start = async (includeSpans: boolean, traceIds: readonly string[] | null = null) => {
    const [{ openExportFile }, { exportTraces }] = await Promise.all([
      import('./export-file.ts'),
      import('./export-traces.ts'),
    ]);
    const file = await openExportFile(`${slug}-traces.ndjson`);
    if (file === null) return;
    const controller = new AbortController();
    abort.current = controller;
    const { signal } = controller;
    const named = traceIds?.length ?? null;
    const showProgress = (progress: ExportProgress) => setRun({ state: 'running', progress, named });
    showProgress({ traces: 0, bytes: 0 });
    const searchRequest = traceIds === null ? (JSON.parse(searchBody(search)) as object) : { traceIds, startDate: 0 };
    const request = {
      body: JSON.stringify({ ...searchRequest, ...(includeSpans && { includeSpans }) }),
      headers: sessionHeaders(id),
    };
    try {
      setRun({ state: 'done', progress: await exportTraces(request, file, showProgress, signal), named });
    } catch (error) {
      setRun(signal.aborted ? NONE : { state: 'failed', error });
    }
  };
  return {
    run,
    start,
    end: () => {
      abort.current?.abort();
      setRun(NONE);
    },
  };
}

type ExportMenuProps = { readonly search: TraceListSearch; readonly onStart: (includeSpans: boolean) => void };

export function ExportMenu({ search, onStart }: ExportMenuProps) {
  return (
    <Popover label="Export" title="Export what was found">
      {(close) => (
        <Choice
          search={search}
          onStart={(includeSpans) => {
            close();
            onStart(includeSpans);
          }}
        />
      )}
    </Popover>
  );
}

function Choice({ search, onStart }: ExportMenuProps) {
  const { account } = useSession();
  const { id } = useProject();
  const [isWhole, setWhole] = useState(false);
  const server = { origin: location.origin, projectId: account.isOfProject ? null : id };
  return (
    <div className={styles.choice}>
      <p>All that the search finds, a trace in each line of JSON.</p>
      <Check checked={isWhole} onChange={setWhole}>
        With every span
      </Check>
      <div className={page.row}>
        <Button variant="primary" onClick={() => onStart(isWhole)}>
          Save the file
        </Button>
        <CopyButton text={curlOf(search, server)}>Copy search as curl</CopyButton>
      </div>
    </div>
  );
}

type ExportStatusProps = {
  readonly run: Run;
  /** The total hits of the search. */
  readonly all: number;
  readonly onEnd: () => void;
};

export function ExportStatus({ run, all: found, onEnd }: ExportStatusProps) {
  if (run.state === 'none') return null;
  if (run.state === 'failed') {
    return (
      <div className={styles.failed}>
        <FailureNotice error={run.error} />
        <p>The export is not complete, and no file was kept.</p>
        <Button small onClick={onEnd}>
          Close
        </Button>
      </div>
    );
  }
  const { traces, bytes } = run.progress;
  const all = run.named ?? found;
  const isDone = run.state === 'done';
  return (
    <div className={page.row} role="status">
      <Progress
        label="Exported traces"
        done={isDone ? Math.max(1, all) : Math.min(traces, all)}
        all={Math.max(1, all)}
      />
      <span>
        {isDone ? 'Exported' : 'Exporting…'} {formatCount(traces)} traces, {formatBytes(bytes)}
      </span>
      <Button small onClick={onEnd}>
        {isDone ? 'Close' : 'Cancel'}
      </Button>
    </div>
  );
}
