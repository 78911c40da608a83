import { useState } from 'react';
import { Form, SelectField, TextField } from '../design/form.tsx';
import { Popover } from '../design/popover.tsx';
import styles from './filter-bar.module.css';
import { examplesOf, FILTER_KINDS, type Filter, isReadable } from './query-line.ts';

type AddFilterProps = { readonly onAdd: (filter: Filter) => void };

/** Offers all filters. */
export function AddFilter({ onAdd }: AddFilterProps) {
  return (
    <Popover label="Add filter" title="Add a filter">
      {(close) => (
        <FilterForm
          onAdd={(filter) => {
            onAdd(filter);
            close();
          }}
        />
      )}
    </Popover>
  );
}

function FilterForm({ onAdd }: AddFilterProps) {
  const [name, setName] = useState('model');
  const [of, setOf] = useState('');
  const [value, setValue] = useState('');
  const kind = FILTER_KINDS.find((each) => each.name === name);
  const filter = { name: kind?.of ? `${name}.${of.trim()}` : name, value: value.trim() };
  const isComplete = filter.value !== '' && (kind?.of === undefined || of.trim() !== '') && isReadable(filter);
  return (
    <Form className={styles.form} action="Add" disabled={!isComplete} onSubmit={() => onAdd(filter)}>
      <SelectField
        label="Filter"
        value={name}
        options={FILTER_KINDS.map((each) => [each.name, each.label] as const)}
        onChange={(chosen) => {
          setName(chosen);
          setValue('');
        }}
      />
      {kind?.of && <TextField label={kind.of === 'key' ? 'Key' : 'Evaluator id'} value={of} onChange={setOf} />}
      {kind?.values ? (
        <SelectField
          label="Value"
          value={value}
          options={[['', 'Choose…'], ...kind.values.map((each) => [each, each] as const)]}
          onChange={setValue}
        />
      ) : (
        <TextField
          label="Value"
          hint={kind?.range && `For example ${examplesOf(filter)}`}
          value={value}
          onChange={setValue}
        />
      )}
    </Form>
  );
}
