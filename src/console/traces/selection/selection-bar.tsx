/** What can be done to the selected traces. */

import { useState } from 'react';
import { Button } from '../../design/button.tsx';
import { ModalButton } from '../../design/confirm.tsx';
import { FailureNotice } from '../../design/failure.tsx';
import { formatCount } from '../../design/format.ts';
import { Popover } from '../../design/popover.tsx';
import { useProject, useSession } from '../../session/session.tsx';
import { DeleteFound, DeleteTraces } from '../delete-traces.tsx';
import { openExportFile } from '../export-file.ts';
import type { TraceListSearch } from '../search.ts';
import { csvOf } from './csv.ts';
import styles from './selection.module.css';
import { ToDataset } from './to-dataset.tsx';
import { SELECTED_MAX, type Selection } from './use-selection.ts';

type SelectionBarProps = {
  readonly selection: Selection;
  readonly search: TraceListSearch;
  /** Whether something says which traces the list finds: it may not offer to delete all that there are. */
  readonly isNarrowed: boolean;
  /** Exports them as lines of JSON. */
  readonly onExport: (traceIds: readonly string[], includeSpans: boolean) => void;
};

export default function SelectionBar({ selection, search, isNarrowed, onExport }: SelectionBarProps) {
  const { may } = useSession();
  const { size } = selection.traces;
  const traceIds = [...selection.traces.keys()];
  return (
    <div className={styles.bar} role="group" aria-label="Selected traces">
      <strong className={styles.count} role="status">
        {formatCount(size)} selected{size >= SELECTED_MAX && `, which is the most`}
      </strong>
      {may('datasets:update') && (
        <ModalButton label="Add to dataset…" title="Add the selected traces to a dataset">
          {(close) => <ToDataset traceIds={traceIds} onClose={close} />}
        </ModalButton>
      )}
      <ExportChosen selection={selection} onExport={(includeSpans) => onExport(traceIds, includeSpans)} />
      {may('project:manage') && (
        <DeleteTraces label="Delete the selected" conditions={() => ({ traceIds })} onBegun={selection.clear}>
          {() => (
            <p>
              {size === 1 ? 'The trace' : `The ${formatCount(size)} traces`} that you selected, whenever{' '}
              {size === 1 ? 'it' : 'they'} began.
            </p>
          )}
        </DeleteTraces>
      )}
      {may('project:manage') && isNarrowed && selection.share === 'all' && (
        <DeleteFound search={search} label="Delete all that match" />
      )}
      <Button onClick={selection.clear}>Clear</Button>
    </div>
  );
}

type ExportChosenProps = {
  readonly selection: Selection;
  readonly onExport: (includeSpans: boolean) => void;
};

function ExportChosen({ selection: { traces }, onExport }: ExportChosenProps) {
  const { slug } = useProject();
  const [error, setError] = useState<unknown>(null);
  const saveCsv = async () => {
    setError(null);
    const file = await openExportFile(`${slug}-traces.csv`, 'text/csv');
    // The mark tells spreadsheets that it is UTF-8.
    const bytes = new TextEncoder().encode(`\uFEFF${csvOf([...traces.values()])}`);
    await file?.write(bytes);
    await file?.finish();
  };
  return (
    <>
      <Popover label="Export…" title="Export the selected traces">
        {(close) => {
          const then = (act: () => void) => () => {
            close();
            act();
          };
          return (
            <div className={styles.choices}>
              <Button onClick={then(() => onExport(false))}>Lines of JSON</Button>
              <Button onClick={then(() => onExport(true))}>Lines of JSON, with every span</Button>
              <Button onClick={then(() => void saveCsv().catch(setError))}>CSV</Button>
            </div>
          );
        }}
      </Popover>
      {error !== null && <FailureNotice error={error} />}
    </>
  );
}
