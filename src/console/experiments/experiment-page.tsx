/** One experiment with its runs, newest first. */

import { useInfiniteQuery, useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ExperimentRun, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Badge, Progress } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Empty, More, PAGING, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const route = getRouteApi('/$slug/experiments/$experimentId');
const PAGE_SIZE = 100;
const POLL_INTERVAL_MS = 2_000;

export function ExperimentPage() {
  const { slug, experimentId } = route.useParams();
  const { may } = useSession();
  const found = useQuery(ExperimentService.method.getExperiment, { slugOrId: experimentId });
  const experiment = found.data?.experiment;
  return (
    <div className={page.page}>
      <Link to="/$slug/experiments" params={{ slug }} className={page.soft}>
        ‹ Experiments
      </Link>
      <Pending found={found} />
      {experiment && (
        <>
          <div className={page.head}>
            <div>
              <h1>{nameControls(experiment.name)}</h1>
              <p className={page.sub}>
                {nameControls(experiment.slug)} · made <Instant at={experiment.createdAt} />
              </p>
            </div>
            {may('experiments:delete') && <Delete id={experiment.id} name={experiment.name} />}
          </div>
          <Runs id={experiment.id} />
        </>
      )}
    </div>
  );
}

function Runs({ id }: { readonly id: string }) {
  const { slug, experimentId } = route.useParams();
  const found = useInfiniteQuery(
    ExperimentService.method.listExperimentRuns,
    { slugOrId: id, pageSize: PAGE_SIZE, pageToken: '' },
    {
      ...PAGING,
      refetchInterval: ({ state }) => (state.data?.pages[0]?.data.some(isGoingOn) ? POLL_INTERVAL_MS : false),
    },
  );
  const runs = found.data?.pages.flatMap(({ data }) => data) ?? [];
  if (!found.isSuccess) return <Pending found={found} />;
  if (runs.length === 0)
    return <Empty title="No run yet">Results that are sent for this experiment with a run_id make one.</Empty>;
  return (
    <>
      <Table columns={['Run', 'Began', 'State', 'Entries', { number: 'Results' }, 'Compare']}>
        {runs.map((run, index) => {
          const before = runs[index + 1];
          const params = { slug, experimentId, runId: run.id };
          return (
            <tr key={run.id}>
              <td>
                <Link to="/$slug/experiments/$experimentId/runs/$runId" params={params}>
                  {nameControls(run.name || run.id)}
                </Link>{' '}
                {run.name !== '' && <span className={page.mono}>{nameControls(run.id)}</span>}
              </td>
              <InstantCell at={run.createdAt} />
              <td>{isGoingOn(run) ? <Badge tone="accent">running</Badge> : <Badge tone="good">finished</Badge>}</td>
              <td>
                <Done run={run} />
              </td>
              <td className={page.number}>{formatCount(run.resultCount)}</td>
              <td>
                {before && (
                  <Link
                    to="/$slug/experiments/$experimentId/runs/$runId"
                    params={params}
                    search={{ against: before.id }}
                  >
                    with the previous run
                  </Link>
                )}
              </td>
            </tr>
          );
        })}
      </Table>
      <More found={found} />
    </>
  );
}

function Done({ run }: { readonly run: ExperimentRun }) {
  return (
    <>
      {isGoingOn(run) && run.total !== undefined && (
        <Progress label="Entries that are done" done={Math.min(run.done, run.total)} all={run.total} />
      )}
      <span className={page.nowrap}>
        {formatCount(run.done)}
        {run.total !== undefined && ` of ${formatCount(run.total)}`}
      </span>
    </>
  );
}

function isGoingOn({ finishedAt }: ExperimentRun): boolean {
  return finishedAt === undefined;
}

function Delete({ id, name }: { readonly id: string; readonly name: string }) {
  const { slug } = route.useParams();
  const navigate = route.useNavigate();
  const refresh = useRefresh();
  const remove = useMutation(ExperimentService.method.deleteExperiment, {
    async onSuccess() {
      await navigate({ to: '/$slug/experiments', params: { slug } });
      await refresh();
    },
  });
  return (
    <DeleteForGood
      label="Delete"
      name={name}
      pending={remove.isPending}
      error={remove.error}
      onDelete={() => remove.mutate({ slugOrId: id })}
    >
      All its runs and results go with it. This cannot be undone.
    </DeleteForGood>
  );
}
