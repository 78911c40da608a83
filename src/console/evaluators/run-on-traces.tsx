/** Runs an evaluator over the traces of a search, and shows the progress of its runs. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { EvaluationService, type EvaluatorRun, EvaluatorRunStatus } from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { Evaluator } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Badge, Button, Progress, type Tone } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { TraceFinder } from '../traces/trace-finder.tsx';
import styles from './evaluators.module.css';

const route = getRouteApi('/$slug/evaluators/$evaluatorId');
const RUNS_SHOWN = 200;
const POLL_INTERVAL_MS = 1_000;

export function RunOnTraces({ evaluator }: { readonly evaluator: Evaluator }) {
  const { may } = useSession();
  return (
    <>
      {may('evaluations:manage') && <Start evaluator={evaluator} />}
      <Runs evaluatorId={evaluator.id} />
    </>
  );
}

function Start({ evaluator }: { readonly evaluator: Evaluator }) {
  const { slug } = route.useParams();
  const { tab: _, metric: __, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const start = useChange(EvaluationService.method.runEvaluatorOnTraces);
  return (
    <TraceFinder
      slug={slug}
      search={search}
      onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as typeof now, replace: true })}
      action="Run on these traces"
      call={start}
      onAct={(input) => start.mutate({ idOrSlug: evaluator.id, ...input })}
    >
      <p>Evaluates every matching trace and stores the results on it. Reads: {readsOf(evaluator)}.</p>
    </TraceFinder>
  );
}

function readsOf({ fields }: Evaluator): string {
  return nameControls(fields.map(({ identifier }) => identifier).join(', ')) || NONE;
}

function Runs({ evaluatorId }: { readonly evaluatorId: string }) {
  const { may } = useSession();
  const found = useQuery(
    EvaluationService.method.listEvaluatorRuns,
    { pageSize: RUNS_SHOWN },
    { refetchInterval: ({ state }) => (state.data?.runs.some(isRunning) ? POLL_INTERVAL_MS : false) },
  );
  const cancel = useChange(EvaluationService.method.cancelEvaluatorRun);
  if (!found.isSuccess) return <Pending found={found} />;
  const runs = found.data.runs.filter((run) => run.evaluatorId === evaluatorId);
  if (runs.length === 0)
    return <Empty title="No run yet">A run continues when you close this page. Its progress is shown here.</Empty>;
  return (
    <>
      {cancel.isError && <FailureNotice error={cancel.error} />}
      <Table
        columns={[
          'Began',
          'State',
          'Progress',
          { number: 'Evaluated' },
          { number: 'Skipped' },
          { number: 'Failed' },
          'Actions',
        ]}
      >
        {runs.map((run) => (
          <tr key={run.id}>
            <InstantCell at={run.createdAt} />
            <td>
              <Badge tone={TONES[run.status] ?? 'quiet'}>{statusName(run.status)}</Badge>
              {run.error !== undefined && <p>{nameControls(run.error)}</p>}
            </td>
            <td className={styles.run}>
              <HowFar run={run} />
            </td>
            <td className={page.number}>{formatCount(run.processed)}</td>
            <td className={page.number}>{formatCount(run.skipped)}</td>
            <td className={page.number}>{formatCount(run.failed)}</td>
            <td>
              {isRunning(run) && may('evaluations:manage') && (
                <Button small disabled={cancel.isPending} onClick={() => cancel.mutate({ runId: run.id })}>
                  Cancel
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function HowFar({ run }: { readonly run: EvaluatorRun }) {
  const all = Number(run.tracesFound ?? 0n);
  const isCounted = run.tracesFound !== undefined;
  return (
    <>
      {isRunning(run) && isCounted && (
        <Progress label="Evaluated traces" done={Math.min(all, Number(run.evaluated))} all={all} />
      )}
      <span className={page.nowrap}>
        {formatCount(run.evaluated)} of {formatCount(run.tracesFound)}
        {isCounted && !run.isFoundExactly && ' or more'}
      </span>
    </>
  );
}

const TONES: { readonly [status: number]: Tone } = {
  [EvaluatorRunStatus.RUNNING]: 'accent',
  [EvaluatorRunStatus.COMPLETED]: 'good',
  [EvaluatorRunStatus.FAILED]: 'bad',
};

function statusName(status: EvaluatorRunStatus): string {
  return (EvaluatorRunStatus[status] ?? 'unknown').toLowerCase();
}

function isRunning({ status }: EvaluatorRun): boolean {
  return status === EvaluatorRunStatus.RUNNING;
}
