/** The preconditions of a monitor. */

import { SpanType } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, joined } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import page from '../design/page.module.css';
import { spanTypeName } from '../trace/trace-enums.ts';
import { type ConditionDraft, EMPTY_CONDITION } from './draft.ts';
import styles from './monitors.module.css';

const CONDITIONS_MAX = 20;
const SUBJECTS = [
  ['label', 'a label'],
  ['span.type', 'the type of a span'],
  ['metadata', 'metadata'],
] as const;
const KINDS = [
  ['text', 'is the text'],
  ['number', 'is the number'],
  ['flag', 'is'],
] as const;
const FLAGS = ['true', 'false'].map((flag) => [flag, flag] as const);
const SPAN_TYPES = [
  ['', 'Choose…'] as const,
  ...Object.values(SpanType)
    .filter((type) => typeof type === 'number' && type !== SpanType.UNSPECIFIED)
    .map((type) => spanTypeName(type as SpanType))
    .map((name) => [name, name] as const),
];

type ConditionFieldsProps = {
  readonly conditions: readonly ConditionDraft[];
  readonly onChange: (conditions: readonly ConditionDraft[]) => void;
};

export function ConditionFields({ conditions, onChange }: ConditionFieldsProps) {
  return (
    <fieldset className={page.group}>
      <legend>Only traces that match all of these conditions</legend>
      {conditions.length === 0 && <p className={controls.hint}>No condition: the monitor evaluates every trace.</p>}
      {conditions.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no id, and their fields are controlled
        <div key={index} className={page.row}>
          <Condition
            number={index + 1}
            condition={condition}
            onChange={(part) => onChange(conditions.with(index, { ...condition, ...part }))}
          />
          <Button
            small
            aria-label={`Remove condition ${index + 1}`}
            onClick={() => onChange(conditions.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button
          small
          disabled={conditions.length >= CONDITIONS_MAX}
          onClick={() => onChange([...conditions, EMPTY_CONDITION])}
        >
          Add a condition
        </Button>
      </div>
    </fieldset>
  );
}

type ConditionProps = {
  readonly number: number;
  readonly condition: ConditionDraft;
  readonly onChange: (part: Partial<ConditionDraft>) => void;
};

function Condition({ number, condition, onChange }: ConditionProps) {
  const { of, key, type } = condition;
  const named = (what: string) => ({ 'aria-label': `${what} of condition ${number}` });
  return (
    <>
      <Select
        {...named('Subject')}
        value={of}
        options={SUBJECTS}
        onChange={(chosen) => onChange({ ...EMPTY_CONDITION, of: chosen })}
      />
      {of === 'metadata' && (
        <input
          {...named('Key')}
          className={joined(controls.input, styles.short)}
          placeholder="customer_id"
          value={key}
          onChange={({ target }) => onChange({ key: target.value })}
        />
      )}
      {of === 'metadata' ? (
        <Select
          {...named('Kind')}
          value={type}
          options={KINDS}
          onChange={(chosen) => onChange({ type: chosen, value: chosen === 'flag' ? 'true' : '' })}
        />
      ) : (
        <span>is</span>
      )}
      <Value {...named('Value')} condition={condition} onChange={(value) => onChange({ value })} />
    </>
  );
}

type ValueProps = {
  readonly 'aria-label': string;
  readonly condition: ConditionDraft;
  readonly onChange: (value: string) => void;
};

function Value({ condition: { of, type, value }, onChange, ...named }: ValueProps) {
  const choices = of === 'span.type' ? SPAN_TYPES : type === 'flag' ? FLAGS : null;
  if (choices) return <Select {...named} value={value} options={choices} onChange={onChange} />;
  return (
    <input
      {...named}
      className={joined(controls.input, styles.short)}
      {...(type === 'number' && { type: 'number', step: 'any' })}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
