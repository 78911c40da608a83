/** One run of an experiment: its summary and results, alone or beside another run. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ExperimentRun, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Badge, Button, Loading } from '../design/button.tsx';
import { DeleteForGood } from '../design/delete-for-good.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { ResultTable } from './result-table.tsx';
import type { RunSearch } from './search.ts';
import { SummaryTable } from './summary-table.tsx';
import { useReadUpTo, useResults } from './use-results.ts';

const route = getRouteApi('/$slug/experiments/$experimentId/runs/$runId');
const RUNS_OFFERED = 100;

export function RunPage() {
  const { slug, experimentId, runId } = route.useParams();
  const { against, differing } = route.useSearch();
  const { may } = useSession();
  const now = useResults(experimentId, runId);
  const other = useResults(experimentId, against ?? null);
  const areOthersRead = useReadUpTo(other, now.results.at(-1)?.index ?? -1);
  const { found, run, summary, results } = now;
  const error = found.error ?? other.found.error;
  const isCompared = against !== undefined && other.summary !== undefined;
  return (
    <div className={page.page}>
      <Link to="/$slug/experiments/$experimentId" params={{ slug, experimentId }} className={page.soft}>
        ‹ Runs
      </Link>
      {found.isPending && <Loading />}
      {error && <FailureNotice error={error} retry={found.refetch} />}
      {run && summary && (
        <>
          <div className={page.head}>
            <div>
              <h1>{nameControls(run.name || run.id)}</h1>
              <p className={page.sub}>
                <Facts slug={slug} run={run} />
              </p>
            </div>
            {may('experiments:delete') && <Delete run={run} />}
          </div>
          <Against runId={run.id} />
          <SummaryTable summary={summary} other={isCompared ? (other.summary ?? null) : null} />
          <ResultTable
            slug={slug}
            results={results}
            others={isCompared ? other.results : null}
            areOthersRead={areOthersRead}
            targets={new Map(run.targets.map(({ id, name }) => [id, name ?? id]))}
            onlyDiffering={differing === true}
          />
          {found.hasNextPage && (
            <div className={page.row}>
              <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
                Show more
              </Button>
              <span role="status">
                {formatCount(results.length)} of {formatCount(run.resultCount)} results
              </span>
            </div>
          )}
        </>
      )}
    </div>
  );
}

function Facts({ slug, run }: { readonly slug: string; readonly run: ExperimentRun }) {
  return (
    <>
      {run.finishedAt ? <Badge tone="good">ended</Badge> : <Badge tone="accent">goes on</Badge>} began{' '}
      <Instant at={run.createdAt} /> · {formatCount(run.done)}
      {run.total !== undefined && ` of ${formatCount(run.total)}`} entries
      {run.datasetId !== undefined && (
        <>
          {' · '}
          <Link
            to="/$slug/datasets/$datasetId"
            params={{ slug, datasetId: run.datasetId }}
            search={run.datasetVersion === undefined ? {} : { version: run.datasetVersion }}
          >
            its dataset
          </Link>
        </>
      )}
    </>
  );
}

function Against({ runId }: { readonly runId: string }) {
  const { experimentId } = route.useParams();
  const { against, differing } = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery(ExperimentService.method.listExperimentRuns, {
    slugOrId: experimentId,
    pageSize: RUNS_OFFERED,
  });
  const offered = runs.data?.data.filter(({ id }) => id !== runId) ?? [];
  if (offered.length === 0 && against === undefined) return null;
  const isKnown = against === undefined || offered.some(({ id }) => id === against);
  const change = (search: RunSearch) => void navigate({ search, replace: true });
  return (
    <div className={page.row}>
      <label className={page.row}>
        Compare with
        <select
          value={against ?? ''}
          onChange={({ target }) => change(target.value === '' ? {} : { against: target.value })}
        >
          <option value="">nothing</option>
          {!isKnown && <option value={against}>{nameControls(against)}</option>}
          {offered.map(({ id, name }) => (
            <option key={id} value={id}>
              {nameControls(name === '' || name === id ? id : `${name} (${id})`)}
            </option>
          ))}
        </select>
      </label>
      {against !== undefined && (
        <label>
          <input
            type="checkbox"
            checked={differing === true}
            onChange={({ target }) => change({ against, ...(target.checked && { differing: true as const }) })}
          />{' '}
          Only what went otherwise
        </label>
      )}
    </div>
  );
}

function Delete({ run }: { readonly run: ExperimentRun }) {
  const { slug, experimentId } = route.useParams();
  const navigate = route.useNavigate();
  const refresh = useRefresh();
  const remove = useMutation(ExperimentService.method.deleteExperimentRun, {
    async onSuccess() {
      await navigate({ to: '/$slug/experiments/$experimentId', params: { slug, experimentId } });
      await refresh();
    },
  });
  return (
    <DeleteForGood
      label="Delete the run"
      name={run.name || run.id}
      pending={remove.isPending}
      error={remove.error}
      onDelete={() => remove.mutate({ slugOrId: experimentId, runId: run.id })}
    >
      Its results go with it. This cannot be undone.
    </DeleteForGood>
  );
}
