/** The results of a run, alone or beside those of another, as far as they are loaded. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type ExperimentResult, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { PAGING } from '../design/page.tsx';

const PAGE_SIZE = 50;

/** The results of an entry in the run and in the other run; undefined where a run has none. */
export type ResultPair = {
  /** One of the two. */
  readonly entry: ExperimentResult;
  readonly result: ExperimentResult | undefined;
  readonly other: ExperimentResult | undefined;
};

/** In the order of their entries. */
export function useResults(slugOrId: string, runId: string) {
  const found = useInfiniteQuery(
    ExperimentService.method.getExperimentRun,
    { slugOrId, runId, pageSize: PAGE_SIZE, pageToken: '' },
    PAGING,
  );
  const [first] = found.data?.pages ?? [];
  const results = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return { found, first, pairs: results.map((result): ResultPair => ({ entry: result, result, other: undefined })) };
}

/** In the order of the run `against`, which is the base; those that it lacks follow. */
export function useComparison(slugOrId: string, runId: string, against: string) {
  const found = useInfiniteQuery(
    ExperimentService.method.compareExperimentRuns,
    { slugOrId, base: against, other: runId, pageSize: PAGE_SIZE, pageToken: '' },
    PAGING,
  );
  const [first] = found.data?.pages ?? [];
  const data = found.data?.pages.flatMap((each) => each.data) ?? [];
  const pairs = data.flatMap(({ base, other }): ResultPair[] => {
    const entry = other ?? base;
    return entry ? [{ entry, result: other, other: base }] : [];
  });
  return { found, first, pairs };
}
