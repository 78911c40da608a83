/** The choice of a dataset, or of a new one, in forms that add to it. */

import { useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { Button, buttonClass } from '../design/button.tsx';
import { SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useProject, useSession } from '../session/session.tsx';

/** Stands for a dataset that does not exist yet. */
export const NEW_DATASET = '';
const NAME_CHARACTERS = 255;

export function useDatasetChoice() {
  const { may } = useSession();
  const found = useQuery(DatasetService.method.listDatasets);
  const [chosen, choose] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const options = [
    ...(found.data?.data ?? []).map(({ id, name }) => [id, nameControls(name)] as const),
    ...(may('datasets:create') ? ([[NEW_DATASET, 'A new dataset']] as const) : []),
  ];
  /** Null: there is none, and the reader may not make one. */
  const id = chosen ?? options[0]?.[0] ?? null;
  const name = typed.trim();
  return {
    ...{ found, id, name, choose },
    isComplete: id !== null && (id !== NEW_DATASET || name !== ''),
    fields: (
      <>
        <SelectField label="Dataset" value={id ?? NEW_DATASET} options={options} onChange={choose} />
        {id === NEW_DATASET && (
          <TextField
            label="Name of the dataset"
            field="name"
            maxLength={NAME_CHARACTERS}
            value={typed}
            onChange={setTyped}
          />
        )}
      </>
    ),
  };
}

export function NoDataset() {
  return <p>There is no dataset, and you may not create one.</p>;
}

type AddedProps = { readonly datasetId: string; readonly onClose: () => void; readonly children: ReactNode };

/** What became of the addition, and the way to the dataset. */
export function Added({ datasetId, onClose, children }: AddedProps) {
  const { slug } = useProject();
  return (
    <>
      <p role="status">{children}</p>
      <div className={page.row}>
        <Link className={buttonClass('primary')} to="/$slug/datasets/$datasetId" params={{ slug, datasetId }}>
          Open the dataset
        </Link>
        <Button onClick={onClose}>Close</Button>
      </div>
    </>
  );
}
