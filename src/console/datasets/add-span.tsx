/** Adds a span to a dataset: maps what it has to columns, and shows the entries before they are added. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, joined, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Check, Form, Select, TextField } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import { Added, NEW_DATASET, NoDataset, useDatasetChoice } from './dataset-choice.tsx';
import styles from './datasets.module.css';
import { EntryTable } from './entry-table.tsx';
import { type Column, columnProblem, columnsOf, entryOf, SOURCES, type Source } from './span-entries.ts';

/** Of one trace; more would hardly fit a request. */
const ENTRIES_MAX = 100;

type AddSpanProps = {
  readonly trace: Trace;
  readonly span: TraceSpan;
  /** All that are loaded. */
  readonly spans: readonly TraceSpan[];
  readonly onClose: () => void;
};

export default function AddSpan({ trace, span, spans, onClose }: AddSpanProps) {
  const { found, id, name, isComplete, fields } = useDatasetChoice();
  const refresh = useRefresh();
  const isStored = id !== null && id !== NEW_DATASET;
  const entries = useQuery(DatasetService.method.getDataset, { slugOrId: id ?? '' }, { enabled: isStored });
  const [mapped, setMapped] = useState<{ readonly of: string | null; readonly columns: readonly Column[] } | null>(
    null,
  );
  const columns =
    mapped !== null && mapped.of === id ? mapped.columns : columnsOf(entries.data?.data[0]?.entryJson ?? null, span);
  const [takesAll, setTakesAll] = useState(false);
  const [number, setNumber] = useState(1);
  const alike = spans.filter((each) => each.name === span.name && each.type === span.type).slice(0, ENTRIES_MAX);
  const taken = takesAll ? alike : [span];
  const create = useMutation(DatasetService.method.createDataset, { onSuccess: refresh });
  const add = useMutation(DatasetService.method.addDatasetEntries, { onSuccess: refresh });
  if (!found.data || (isStored && !entries.data)) {
    const error = found.error ?? entries.error;
    return error == null ? <Loading /> : <FailureNotice error={error} />;
  }
  const added = create.data?.dataset ?? add.data?.dataset;
  if (added) {
    return (
      <Added datasetId={added.id} onClose={onClose}>
        {formatCount(taken.length)} {taken.length === 1 ? 'entry was' : 'entries were'} added to{' '}
        {nameControls(added.name)}, which has {formatCount(added.entryCount)} now.
      </Added>
    );
  }
  if (id === null) return <NoDataset />;
  const problem = columnProblem(columns);
  const rows = taken.map((each) => entryOf(columns, each, trace));
  const submit = () => {
    const entriesJson = `[${rows.join(',')}]`;
    if (!isStored) create.mutate({ name, entriesJson });
    else add.mutate({ slugOrId: id, entriesJson });
  };
  return (
    <Form
      action={taken.length === 1 ? 'Add the entry' : `Add ${formatCount(taken.length)} entries`}
      disabled={problem !== null || !isComplete || create.isPending || add.isPending}
      error={create.error ?? add.error}
      onSubmit={submit}
      onCancel={onClose}
    >
      {fields}
      <Columns columns={columns} onChange={(next) => setMapped({ of: id, columns: next })} />
      {alike.length > 1 && (
        <Check checked={takesAll} onChange={setTakesAll}>
          All {formatCount(alike.length)} spans of this name in the trace
        </Check>
      )}
      {problem === null ? (
        <section aria-label="Preview" className={styles.preview}>
          <EntryTable
            entries={rows.map((entryJson, index) => ({ id: String(index), entryJson }))}
            number={number}
            onNumber={setNumber}
          />
        </section>
      ) : (
        <p role="status">{problem}</p>
      )}
    </Form>
  );
}

type ColumnsProps = {
  readonly columns: readonly Column[];
  readonly onChange: (columns: readonly Column[]) => void;
};

const CHOICES: readonly (readonly [source: Source | '', label: string])[] = [['', 'Nothing'], ...SOURCES];

function Columns({ columns, onChange }: ColumnsProps) {
  const put = (index: number, change: Partial<Column>) =>
    onChange(columns.map((each, at) => (at === index ? { ...each, ...change } : each)));
  return (
    <fieldset className={styles.columns}>
      <legend>Columns</legend>
      {columns.map((column, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place while its name is typed.
        <div key={index} className={joined(page.row, styles.column)}>
          <TextField label={`Column ${index + 1}`} value={column.name} onChange={(name) => put(index, { name })} />
          <Select
            aria-label={`Source of column ${index + 1}`}
            value={column.source ?? ''}
            options={CHOICES}
            onChange={(source) => put(index, { source: source === '' ? null : source })}
          />
          <Button
            small
            aria-label={`Remove column ${index + 1}`}
            onClick={() => onChange(columns.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button small onClick={() => onChange([...columns, { name: '', source: null }])}>
        Add a column
      </Button>
    </fieldset>
  );
}
