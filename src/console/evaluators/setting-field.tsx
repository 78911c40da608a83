/** The input for one setting of an evaluator, by its schema. */

import { Button } from '../design/button.tsx';
import { AreaField, Check, SelectField, TextField } from '../design/form.tsx';
import page from '../design/page.module.css';
import styles from './evaluators.module.css';
import { emptyItem, isList, isObject, type Json, labelOfKey, type Schema } from './settings.ts';

/** Longer texts get a field of several lines. */
const LINE_CHARACTERS = 1_000;
const LONG_KEYS: ReadonlySet<string> = new Set(['prompt', 'json_schema']);

type SettingProps = {
  readonly name: string;
  readonly schema: Schema;
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
};

export function SettingField(props: SettingProps) {
  const { name, schema, value, onChange } = props;
  switch (schema.type) {
    case 'boolean':
      return (
        <Check checked={value === true} onChange={onChange}>
          {labelOfKey(name)}
        </Check>
      );
    case 'string':
      return <TextSetting {...props} />;
    case 'number':
    case 'integer':
      return (
        <TextField
          label={labelOfKey(name)}
          hint="Leave it empty for the server’s default."
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          value={typeof value === 'number' ? value : ''}
          onChange={(text) => onChange(text === '' ? null : Number(text))}
        />
      );
    case 'array':
      return schema.items?.type === 'object' ? <ListSetting {...props} /> : <LinesSetting {...props} />;
    case 'object':
      return <ObjectSetting {...props} />;
    default:
      // A setting without a known schema has no input and keeps its value.
      return null;
  }
}

function TextSetting({ name, schema, value, onChange }: SettingProps) {
  const text = typeof value === 'string' ? value : '';
  const label = labelOfKey(name);
  if (schema.enum) {
    const options = schema.enum.map((each) => [each, labelOfKey(each)] as const);
    return <SelectField label={label} value={text} options={options} onChange={onChange} />;
  }
  const isLong = LONG_KEYS.has(name);
  if (!isLong && (schema.maxLength ?? 0) <= LINE_CHARACTERS)
    return <TextField label={label} value={text} onChange={onChange} />;
  return <AreaField label={label} rows={isLong ? 4 : 1} value={text} onChange={onChange} />;
}

function LinesSetting({ name, value, onChange }: SettingProps) {
  const lines = isList(value) ? value.filter((item) => typeof item === 'string') : [];
  return (
    <AreaField
      label={labelOfKey(name)}
      hint="One per line."
      rows={Math.min(8, lines.length + 1)}
      value={lines.join('\n')}
      onChange={(text) => onChange(text.split('\n'))}
    />
  );
}

function ListSetting({ name, schema, value, onChange }: SettingProps) {
  const items = isList(value) ? value : [];
  const of = schema.items ?? {};
  const replace = (index: number, item: Json) => onChange(items.with(index, item));
  return (
    <fieldset className={page.group}>
      <legend>{labelOfKey(name)}</legend>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no id, and their fields are controlled
        <div key={index} className={styles.item}>
          <Members schema={of} value={item} onChange={(next) => replace(index, next)} />
          <Button
            small
            aria-label={`Remove ${labelOfKey(name)} ${index + 1}`}
            disabled={items.length <= (schema.minItems ?? 0)}
            onClick={() => onChange(items.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button
          small
          disabled={items.length >= (schema.maxItems ?? Number.POSITIVE_INFINITY)}
          onClick={() => onChange([...items, emptyItem(of)])}
        >
          Add one
        </Button>
      </div>
    </fieldset>
  );
}

function ObjectSetting({ name, schema, value, onChange }: SettingProps) {
  return (
    <fieldset className={page.group}>
      <legend>{labelOfKey(name)}</legend>
      <Members schema={schema} value={value} onChange={onChange} />
    </fieldset>
  );
}

function Members({ schema, value, onChange }: Pick<SettingProps, 'schema' | 'value' | 'onChange'>) {
  const object = isObject(value) ? value : {};
  return (
    <div className={styles.members}>
      {Object.entries(schema.properties ?? {}).map(([key, member]) => (
        <SettingField
          key={key}
          name={key}
          schema={member}
          value={object[key]}
          onChange={(next) => onChange({ ...object, [key]: next })}
        />
      ))}
    </div>
  );
}
