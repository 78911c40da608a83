import { useState } from 'react';
import { Button, Field } from '../design/button.tsx';
import { Popover } from '../design/popover.tsx';
import styles from './filter-bar.module.css';
import { FILTER_KINDS, type Filter } from './query-line.ts';

type AddFilterProps = { readonly onAdd: (filter: Filter) => void };

/** Offers all filters. */
export function AddFilter({ onAdd }: AddFilterProps) {
  return (
    <Popover label="Add filter" title="Add a filter">
      {(close) => (
        <Form
          onAdd={(filter) => {
            onAdd(filter);
            close();
          }}
        />
      )}
    </Popover>
  );
}

function Form({ onAdd }: AddFilterProps) {
  const [name, setName] = useState('model');
  const [of, setOf] = useState('');
  const [value, setValue] = useState('');
  const kind = FILTER_KINDS.find((each) => each.name === name);
  const isComplete = value.trim() !== '' && (kind?.of === undefined || of.trim() !== '');
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) onAdd({ name: kind?.of ? `${name}.${of.trim()}` : name, value: value.trim() });
      }}
    >
      <Field label="Filter">
        {(props) => (
          <select
            {...props}
            value={name}
            onChange={(event) => {
              setName(event.target.value);
              setValue('');
            }}
          >
            {FILTER_KINDS.map((each) => (
              <option key={each.name} value={each.name}>
                {each.label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {kind?.of && (
        <Field label={kind.of === 'key' ? 'Key' : 'Evaluator id'}>
          {(props) => <input {...props} value={of} onChange={(event) => setOf(event.target.value)} />}
        </Field>
      )}
      <Field label="Value">
        {(props) =>
          kind?.values ? (
            <select {...props} value={value} onChange={(event) => setValue(event.target.value)}>
              <option value="">Choose…</option>
              {kind.values.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          ) : (
            <input {...props} value={value} onChange={(event) => setValue(event.target.value)} />
          )
        }
      </Field>
      <Button type="submit" variant="primary" disabled={!isComplete}>
        Add
      </Button>
    </form>
  );
}
