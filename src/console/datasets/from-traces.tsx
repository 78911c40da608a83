/** Adds the traces of a search to a dataset. */

import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type AddTracesToDatasetResponse, type Dataset, DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { TextField } from '../design/form.tsx';
import { formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import { useChange } from '../session/refresh.ts';
import { TraceFinder } from '../traces/trace-finder.tsx';

const route = getRouteApi('/$slug/datasets/$datasetId');
const ENTRIES_MAX = 1_000;

export function FromTraces({ dataset }: { readonly dataset: Dataset }) {
  const { slug } = route.useParams();
  const { tab: _, version: __, page: ___, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const [limit, setLimit] = useState('100');
  const add = useChange(DatasetService.method.addTracesToDataset);
  const most = Number(limit);
  const isValid = Number.isInteger(most) && most >= 1 && most <= ENTRIES_MAX;
  return (
    <>
      <TraceFinder
        slug={slug}
        search={search}
        onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as typeof now, replace: true })}
        action="Add them as entries"
        call={add}
        disabled={!isValid}
        onAct={(input) => add.mutate({ slugOrId: dataset.id, limit: most, ...input })}
      >
        <p>
          An entry has the input of a trace, its expected output (or else its output), its metadata and its id. They
          make a new version.
        </p>
        <div className={page.narrow}>
          <TextField
            label="At most"
            hint={`The newest of them, up to ${formatCount(ENTRIES_MAX)}.`}
            type="number"
            min={1}
            max={ENTRIES_MAX}
            value={limit}
            onChange={setLimit}
          />
        </div>
      </TraceFinder>
      <p role="status">{add.data && wordsOf(add.data)}</p>
    </>
  );
}

function wordsOf({ dataset, added, leftOut, isLeftOutExact }: AddTracesToDatasetResponse): string {
  const rest =
    leftOut === 0 ? '' : `; ${isLeftOutExact ? '' : 'at least '}${formatCount(leftOut)} more matched and were left out`;
  return `${formatCount(added)} entries were added${rest}. The dataset has ${formatCount(dataset?.entryCount)} now.`;
}
