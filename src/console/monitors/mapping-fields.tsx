/** The source of each evaluator field in a trace. */

import { useId } from 'react';
import type { EvaluatorField } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { TextField } from '../design/form.tsx';
import page from '../design/page.module.css';
import type { MonitorDraft } from './draft.ts';

const SOURCES = [
  'input',
  'output',
  'expected_output',
  'contexts',
  'span.llm.input',
  'span.llm.output',
  'span.agent.input',
  'span.agent.output',
  'span.rag.output',
  'span.tool.output',
  'metadata.',
];

type MappingFieldsProps = {
  readonly fields: readonly EvaluatorField[];
  readonly mappings: MonitorDraft['mappings'];
  readonly onChange: (mappings: MonitorDraft['mappings']) => void;
};

export function MappingFields({ fields, mappings, onChange }: MappingFieldsProps) {
  const listId = useId();
  if (fields.length === 0) return null;
  return (
    <fieldset className={page.group}>
      <legend>Evaluator input</legend>
      <datalist id={listId}>
        {SOURCES.map((source) => (
          <option key={source} value={source} />
        ))}
      </datalist>
      {fields.map(({ identifier, isOptional }) => (
        <TextField
          key={identifier}
          label={`${identifier}${isOptional ? ' (optional)' : ''}`}
          hint={`Read from ${identifier} of the trace if empty. Otherwise: input, output, metadata.key, or span.type.output of the last span of that type.`}
          list={listId}
          placeholder={identifier}
          spellCheck={false}
          value={mappings[identifier] ?? ''}
          onChange={(text) => onChange({ ...mappings, [identifier]: text })}
        />
      ))}
    </fieldset>
  );
}
