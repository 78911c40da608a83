/** The entries of the dataset that a run tests. Its results name their entry, and need not repeat it. */

import { useQuery } from '@connectrpc/connect-query';
import { useMemo } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import type { ExperimentResult, ExperimentRun } from '../../../gen/spandrel/v1/experiments_pb.js';
import { useSession } from '../session/session.tsx';

/** The JSON of entries by id; empty while the dataset is read, and when it is deleted. */
export type Entries = ReadonlyMap<string, string>;

/** Reads the dataset only if a result lacks its entry. Later versions have all entries of earlier ones. */
export function useEntries(run: ExperimentRun | undefined, results: readonly ExperimentResult[]): Entries {
  const { may } = useSession();
  const slugOrId = run?.datasetId ?? '';
  const enabled = slugOrId !== '' && may('datasets:view') && results.some(({ entryJson }) => entryJson === undefined);
  const { data } = useQuery(DatasetService.method.getDataset, { slugOrId }, { enabled });
  return useMemo(() => new Map(data?.data.map(({ id, entryJson }) => [id, entryJson])), [data]);
}
