/** One experiment with its runs, newest first. */

import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ExperimentRun, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Badge, Progress } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, Empty, More, PAGING, Page, Pending, PendingPage } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { labelOf } from './run-label.ts';

const route = getRouteApi('/$slug/experiments/$experimentId');
const PAGE_SIZE = 100;
const POLL_INTERVAL_MS = 2_000;

export default function ExperimentPage() {
  const { slug, experimentId } = route.useParams();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const found = useQuery(ExperimentService.method.getExperiment, { slugOrId: experimentId });
  const experiment = found.data?.experiment;
  const back = <Back to="/$slug/experiments" params={{ slug }} label="Experiments" />;
  if (!experiment) return <PendingPage back={back} found={found} />;
  return (
    <Page
      back={back}
      title={nameControls(experiment.name)}
      sub={
        <>
          {nameControls(experiment.slug)} · created <Instant at={experiment.createdAt} />
        </>
      }
      actions={
        may('experiments:delete') && (
          <DeleteForGood
            label="Delete experiment"
            name={experiment.name}
            method={ExperimentService.method.deleteExperiment}
            input={{ slugOrId: experiment.id }}
            onDone={() => navigate({ to: '/$slug/experiments', params: { slug } })}
          >
            All of its runs and results are deleted with it. This cannot be undone.
          </DeleteForGood>
        )
      }
    >
      <Pending found={found} />
      <Runs id={experiment.id} />
    </Page>
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
    return (
      <Empty title="No run yet">A run appears with the first results sent for this experiment with a run_id.</Empty>
    );
  return (
    <>
      <Table columns={['Run', 'Started', 'State', 'Entries', { number: 'Results' }, 'Compare']}>
        {runs.map((run, index) => {
          const before = runs[index + 1];
          const params = { slug, experimentId, runId: run.id };
          return (
            <tr key={run.id}>
              <td>
                <Link to="/$slug/experiments/$experimentId/runs/$runId" params={params}>
                  {labelOf(run)}
                </Link>
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
