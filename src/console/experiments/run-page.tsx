/** One run of an experiment: its summary and results, alone or beside another run. */

import { useQuery } from '@connectrpc/connect-query';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type ExperimentRun, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Check, Select } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, Page, Pending, PendingPage } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';
import { ResultTable } from './result-table.tsx';
import { labelOf } from './run-label.ts';
import type { RunSearch } from './search.ts';
import { SummaryTable } from './summary-table.tsx';
import { useEntries } from './use-entries.ts';
import { useComparison, useResults } from './use-results.ts';

const route = getRouteApi('/$slug/experiments/$experimentId/runs/$runId');
const RUNS_OFFERED = 100;

export default function RunPage() {
  const { slug, experimentId, runId } = route.useParams();
  const { against } = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const alone = useResults(experimentId, runId);
  const run = alone.first?.run;
  const back = <Back to="/$slug/experiments/$experimentId" params={{ slug, experimentId }} label="Runs" />;
  if (!run) return <PendingPage back={back} found={alone.found} />;
  return (
    <Page
      back={back}
      title={labelOf(run)}
      sub={<Facts slug={slug} run={run} />}
      actions={
        may('experiments:delete') && (
          <DeleteForGood
            label="Delete run"
            name={labelOf(run)}
            method={ExperimentService.method.deleteExperimentRun}
            input={{ slugOrId: experimentId, runId: run.id }}
            onDone={() => navigate({ to: '/$slug/experiments/$experimentId', params: { slug, experimentId } })}
          >
            Its results are deleted with it. This cannot be undone.
          </DeleteForGood>
        )
      }
    >
      <Against runId={run.id} />
      {against === undefined ? <Alone run={run} {...alone} /> : <Compared run={run} against={against} />}
    </Page>
  );
}

function Alone({ run, found, first, pairs }: { readonly run: ExperimentRun } & ReturnType<typeof useResults>) {
  const { slug } = route.useParams();
  const entries = useEntries(
    run,
    pairs.map(({ entry }) => entry),
  );
  return (
    <>
      {first?.summary && <SummaryTable summary={first.summary} other={null} />}
      <ResultTable
        slug={slug}
        pairs={pairs}
        isCompared={false}
        targets={namesOf(run)}
        entries={entries}
        onlyDiffering={false}
      />
      <More found={found}>
        {formatCount(pairs.length)} of {formatCount(run.resultCount)} results
      </More>
    </>
  );
}

function Compared({ run, against }: { readonly run: ExperimentRun; readonly against: string }) {
  const { slug, experimentId } = route.useParams();
  const { differing = false } = route.useSearch();
  const { found, first, pairs } = useComparison(experimentId, run.id, against);
  const shown = pairs.map(({ entry }) => entry);
  const entries = useEntries(run, shown);
  const otherEntries = useEntries(first?.base?.run, shown);
  const summary = first?.other?.summary;
  if (!summary) return <Pending found={found} />;
  const { base, inBoth, onlyInBase, onlyInOther } = first;
  return (
    <>
      <SummaryTable summary={summary} other={base?.summary ?? null} />
      {onlyInBase + onlyInOther > 0 && (
        <p className={page.soft}>
          Results in both runs: {formatCount(inBoth)}; only in this run: {formatCount(onlyInOther)}; only in the
          baseline: {formatCount(onlyInBase)}.
        </p>
      )}
      <ResultTable
        slug={slug}
        pairs={pairs}
        isCompared
        targets={new Map([...namesOf(base?.run), ...namesOf(run)])}
        entries={new Map([...otherEntries, ...entries])}
        onlyDiffering={differing}
      />
      <More found={found}>
        {formatCount(pairs.length)} of {formatCount(inBoth + onlyInBase + onlyInOther)} results
      </More>
    </>
  );
}

/** The names of the targets by id. */
function namesOf(run: ExperimentRun | undefined): ReadonlyMap<string, string> {
  return new Map(run?.targets.map(({ id, name }) => [id, name ?? id]));
}

type MoreProps = {
  readonly found: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
  >;
  /** How many there are. */
  readonly children: ReactNode;
};

function More({ found, children }: MoreProps) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = found;
  if (!hasNextPage) return null;
  return (
    <div className={page.row}>
      {isFetchNextPageError && <FailureNotice error={error} />}
      <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
      <span role="status">{children}</span>
    </div>
  );
}

function Facts({ slug, run }: { readonly slug: string; readonly run: ExperimentRun }) {
  return (
    <>
      {run.finishedAt ? <Badge tone="good">finished</Badge> : <Badge tone="accent">running</Badge>} · started{' '}
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
            dataset
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
  const choices: readonly (readonly [id: string, label: string])[] = [
    ['', 'None'],
    ...(isKnown ? [] : [[against, nameControls(against)] as const]),
    ...offered.map((run) => [run.id, labelOf(run)] as const),
  ];
  const change = (search: RunSearch) => void navigate({ search, replace: true });
  return (
    <div className={page.row}>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is in Select */}
      <label className={page.row}>
        Baseline
        <Select value={against ?? ''} options={choices} onChange={(id) => change(id === '' ? {} : { against: id })} />
      </label>
      {against !== undefined && (
        <Check
          checked={differing === true}
          onChange={(isOn) => change({ against, ...(isOn && { differing: true as const }) })}
        >
          Only differences
        </Check>
      )}
    </div>
  );
}
