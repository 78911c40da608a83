/** The sources in a trace that mappings can name for the fields of an evaluator. */

import { SPAN_TYPES, type SpanType } from '../traces/trace.ts';

export type MappingSource =
  | { readonly kind: 'input' | 'output' | 'expected_output' | 'contexts' }
  | { readonly kind: 'metadata'; readonly key: string }
  /** The last started span of the type. */
  | { readonly kind: 'span'; readonly type: SpanType; readonly side: 'input' | 'output' };

const WHOLE = ['input', 'output', 'expected_output', 'contexts'] as const;
const METADATA = 'metadata.';
const SPAN = /^span\.([a-z]+)\.(input|output)$/;

/** The list of valid sources, for messages. */
export const SOURCES_TEXT = `${WHOLE.join(', ')}, metadata.<key>, span.<type>.input or span.<type>.output`;

/** Null for a text that is no source. */
export function readSource(text: string): MappingSource | null {
  const whole = WHOLE.find((kind) => kind === text);
  if (whole !== undefined) return { kind: whole };
  if (text.startsWith(METADATA)) {
    const key = text.slice(METADATA.length);
    return key === '' ? null : { kind: 'metadata', key };
  }
  const [, named, side] = SPAN.exec(text) ?? [];
  const type = SPAN_TYPES.find((each) => each === named);
  return type === undefined ? null : { kind: 'span', type, side: side === 'input' ? 'input' : 'output' };
}

/** A field without a mapping is read from the source of the same name; null when there is no such source. */
export function sourceOfField(field: string, mapped: string | undefined): MappingSource | null {
  return readSource(mapped ?? field);
}
