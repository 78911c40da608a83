/** Entries from a file or from pasted text. */

import { Field } from '../design/button.tsx';
import { SelectField } from '../design/form.tsx';
import page from '../design/page.module.css';
import { type Format, formatOfFile } from './entry-batches.ts';
import type { EntryText } from './upload-parts.ts';

export const NO_ENTRIES: EntryText = { format: 'jsonl', text: '' };

const FORMATS: readonly (readonly [format: Format, label: string])[] = [
  ['jsonl', 'One JSON object a line'],
  ['csv', 'CSV'],
  ['json', 'A JSON array'],
];
const PLACEHOLDERS: { readonly [F in Format]: string } = {
  jsonl: '{"input": "hi", "expected_output": "hello"}\n{"input": "bye", "expected_output": "goodbye"}',
  csv: 'input,expected_output\nhi,hello\nbye,goodbye',
  json: '[{"input": "hi", "expected_output": "hello"}]',
};
/** Longer text is not put into the field: megabytes there would block the page. */
const DRAWN_CHARACTERS = 100_000;

type EntrySourceProps = { readonly source: EntryText; readonly onChange: (source: EntryText) => void };

export function EntrySource({ source, onChange }: EntrySourceProps) {
  const read = async (file: File | undefined) => {
    if (!file) return;
    onChange({ format: formatOfFile(file.name) ?? source.format, text: await file.text() });
  };
  const isDrawn = source.text.length <= DRAWN_CHARACTERS;
  return (
    <>
      <Field label="File" hint="CSV with a header row, one JSON object per line, or a JSON array of objects.">
        {(props) => (
          <input
            {...props}
            type="file"
            accept=".csv,.jsonl,.ndjson,.json"
            onChange={({ target }) => void read(target.files?.[0])}
          />
        )}
      </Field>
      <SelectField
        label="Format"
        value={source.format}
        options={FORMATS}
        onChange={(format) => onChange({ ...source, format })}
      />
      {isDrawn ? (
        <Field label="Entries">
          {(props) => (
            <textarea
              {...props}
              className={`${props.className} ${page.mono}`}
              rows={6}
              spellCheck={false}
              placeholder={PLACEHOLDERS[source.format]}
              value={source.text}
              onChange={({ target }) => onChange({ ...source, text: target.value })}
            />
          )}
        </Field>
      ) : (
        <p role="status">The file was read. It is too long to show here.</p>
      )}
    </>
  );
}
