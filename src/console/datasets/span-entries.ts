/** Entries of a dataset that are made of spans: each column has a source. */

import type { Trace, TraceSpan, TypedValue } from '../../../gen/spandrel/v1/traces_pb.js';
import { parseExactly, readScalar, writeExactly } from '../trace/exact-json.ts';
import { type Message, type Part, readMessages } from '../trace/messages.ts';

export const SOURCES = [
  ['input-text', 'Input as text'],
  ['input', 'Input as it was sent'],
  ['output-text', 'Output as text'],
  ['output', 'Output as it was sent'],
  ['params', 'Parameters'],
  ['contexts', 'Contexts'],
  ['name', 'Name of the span'],
  ['model', 'Model'],
  ['trace-input', 'Input of the trace'],
  ['trace-output', 'Output of the trace'],
  ['expected-output', 'Expected output of the trace'],
  ['metadata', 'Metadata of the trace'],
  ['trace-id', 'Id of the trace'],
  ['span-id', 'Id of the span'],
] as const;

export type Source = (typeof SOURCES)[number][0];
/** `source` null: the column stays empty. */
export type Column = { readonly name: string; readonly source: Source | null };

/** What columns are commonly called. */
const NAMED: Readonly<Record<string, Source>> = {
  input: 'input-text',
  question: 'input-text',
  expected_output: 'output-text',
  output: 'output-text',
  answer: 'output-text',
  contexts: 'contexts',
  params: 'params',
  parameters: 'params',
  model: 'model',
  metadata: 'metadata',
  trace_id: 'trace-id',
  span_id: 'span-id',
};

/** The columns of a dataset, by one of its entries; null for a dataset without entries. */
export function columnsOf(entryJson: string | null, span: TraceSpan): readonly Column[] {
  const entry = entryJson === null ? null : parseExactly(entryJson);
  const names =
    typeof entry === 'object' && entry !== null && !Array.isArray(entry)
      ? Object.keys(entry)
      : ['input', 'expected_output', ...(span.contexts.length > 0 ? ['contexts'] : [])];
  return names.map((name) => ({ name, source: Object.hasOwn(NAMED, name) ? (NAMED[name] ?? null) : null }));
}

/** Why the columns make no entry; null if they do. */
export function columnProblem(columns: readonly Column[]): string | null {
  const names = columns.map(({ name }) => name.trim());
  if (names.some((name) => name === '')) return 'Each column needs a name.';
  if (new Set(names).size < names.length) return 'Two columns have the same name.';
  return columns.some(({ source }) => source !== null) ? null : 'Choose a source for at least one column.';
}

/** An entry as JSON. Values keep the digits of their numbers; what a span lacks is null. */
export function entryOf(columns: readonly Column[], span: TraceSpan, trace: Trace): string {
  const members = columns.flatMap(({ name, source }) =>
    source === null ? [] : [`${JSON.stringify(name.trim())}:${READERS[source](span, trace) ?? 'null'}`],
  );
  return `{${members.join(',')}}`;
}

type Reader = (span: TraceSpan, trace: Trace) => string | undefined;

const text = (value: string | undefined) => (value === undefined ? undefined : JSON.stringify(value));

const READERS: Readonly<Record<Source, Reader>> = {
  'input-text': ({ input }) => text(textOf(input, 'user')),
  input: ({ input }) => input?.valueJson,
  'output-text': ({ output }) => text(textOf(output, null)),
  output: ({ output }) => output?.valueJson,
  params: ({ paramsJson }) => paramsJson,
  contexts: ({ contexts }) =>
    contexts.length === 0 ? undefined : JSON.stringify(contexts.map(({ content }) => content)),
  name: ({ name }) => text(name),
  model: ({ model }) => text(model),
  'trace-input': (_, { input }) => text(input?.value),
  'trace-output': (_, { output }) => text(output?.value),
  'expected-output': (_, { expectedOutput }) => text(expectedOutput),
  metadata: (_, { metadataJson }) => metadataJson || undefined,
  'trace-id': (_, { traceId }) => text(traceId),
  'span-id': ({ spanId }) => text(spanId),
};

/** The text of the last message, of the role if one has it; of other values the text, or their JSON. */
function textOf(value: TypedValue | undefined, role: string | null): string | undefined {
  if (value === undefined) return undefined;
  const messages = value.type === 'chat_messages' ? readMessages(value.valueJson) : null;
  if (messages === null) {
    const parsed = parseExactly(value.valueJson);
    return typeof parsed === 'object' && parsed !== null ? writeExactly(parsed) : readScalar(parsed).text;
  }
  const message: Message | undefined = messages.findLast((each) => each.role === role) ?? messages.at(-1);
  return (
    message?.parts
      .map(textOfPart)
      .filter((each) => each !== '')
      .join('\n') ?? ''
  );
}

/** Reasoning is not what was said. */
function textOfPart(part: Part): string {
  if (part.kind === 'reasoning' || part.kind === 'media') return '';
  return part.kind === 'result' ? part.parts.map(textOfPart).join('\n') : part.text;
}
