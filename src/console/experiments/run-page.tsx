/** One run of an experiment: its summary and results, alone or with further runs beside a baseline. */

import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { type ExperimentRun, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, Page, Pending, PendingPage } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';
import { ResultTable } from './result-table.tsx';
import { RunChoice } from './run-choice.tsx';
import { labelOf } from './run-label.ts';
import type { RunSearch } from './search.ts';
import { SummaryTable } from './summary-table.tsx';
import { useEntries } from './use-entries.ts';
import { useComparisons, useResults } from './use-results.ts';

const route = getRouteApi('/$slug/experiments/$experimentId/runs/$runId');

export default function RunPage() {
  const { slug, experimentId, runId } = route.useParams();
  const search = route.useSearch();
  const { against } = search;
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
      <RunChoice
        experimentId={experimentId}
        runId={run.id}
        search={search}
        onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as RunSearch, replace: true })}
      />
      {against === undefined ? <Alone run={run} {...alone} /> : <Compared run={run} against={against} />}
    </Page>
  );
}

function Alone({ run, found, first, rows }: { readonly run: ExperimentRun } & ReturnType<typeof useResults>) {
  const { slug } = route.useParams();
  const entries = useEntries(
    run,
    rows.map(({ entry }) => entry),
  );
  return (
    <>
      {first?.summary && <SummaryTable runs={[{ label: 'This run', summary: first.summary }]} baseline={null} />}
      <ResultTable
        slug={slug}
        rows={rows}
        runs={['Result']}
        comparison={null}
        targets={namesOf(run)}
        entries={entries}
      />
      <More found={found}>
        {formatCount(rows.length)} of {formatCount(run.resultCount)} results
      </More>
    </>
  );
}

/** Sorted by regression, as many entries are read by themselves. */
const SORTED_MAX = 1_000;

function Compared({ run, against }: { readonly run: ExperimentRun; readonly against: string }) {
  const { slug, experimentId } = route.useParams();
  const search = route.useSearch();
  const { differing = false, sort, plain = false, with: others = [] } = search;
  const ids = [run.id, ...others.filter((id) => id !== against && id !== run.id)];
  const { found, firsts, rows } = useComparisons(experimentId, ids, against);
  const { hasNextPage, isFetching, isError, fetchNextPage } = found;
  const isSorted = sort === 'regression';
  const reads = isSorted && hasNextPage && !isFetching && !isError && rows.length < SORTED_MAX;
  useEffect(() => {
    if (reads) void fetchNextPage();
  }, [reads, fetchNextPage]);
  const shown = rows.map(({ entry }) => entry);
  const entries = useEntries(run, shown);
  const [first] = firsts;
  const otherEntries = useEntries(first?.base?.run, shown);
  const base = first?.base;
  const compared = firsts.flatMap((each, index) => {
    const summary = each?.other?.summary;
    const label = index === 0 ? 'This run' : labelOf(each?.other?.run ?? { id: ids[index] ?? '', name: '' });
    return summary ? [{ label, summary }] : [];
  });
  if (!first || !base?.summary || compared.length === 0) return <Pending found={found} />;
  const { inBoth, onlyInBase, onlyInOther } = first;
  return (
    <>
      <SummaryTable runs={compared} baseline={base.summary} />
      {onlyInBase + onlyInOther > 0 && (
        <p className={page.soft}>
          Results in both runs: {formatCount(inBoth)}; only in this run: {formatCount(onlyInOther)}; only in the
          baseline: {formatCount(onlyInBase)}.
        </p>
      )}
      {isSorted && hasNextPage && (
        <p role="status">
          {reads || isFetching
            ? `Sorting ${formatCount(rows.length)} entries…`
            : `These are the worst of the first ${formatCount(rows.length)} entries.`}
        </p>
      )}
      <ResultTable
        slug={slug}
        rows={rows}
        runs={compared.map(({ label }) => label)}
        comparison={{ onlyDiffering: differing, byRegression: isSorted, marksWords: !plain }}
        targets={new Map([base.run, ...firsts.map((each) => each?.other?.run)].flatMap((each) => [...namesOf(each)]))}
        entries={new Map([...otherEntries, ...entries])}
      />
      <More found={found}>
        {formatCount(rows.length)} of {formatCount(inBoth + onlyInBase + onlyInOther)} results
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
