/** Where in a trace an evaluator reads its fields, as mappings name it. */

import { SPAN_TYPES, type SpanType } from '../trace.ts';

export type Source =
  | { readonly kind: 'input' | 'output' | 'expected_output' | 'contexts' }
  | { readonly kind: 'metadata'; readonly key: string }
  /** Of the span of that type that started last. */
  | { readonly kind: 'span'; readonly type: SpanType; readonly side: 'input' | 'output' };

const WHOLE = ['input', 'output', 'expected_output', 'contexts'] as const;
const METADATA = 'metadata.';
const SPAN = /^span\.([a-z]+)\.(input|output)$/;

/** Said to whoever names another. */
export const SOURCES_TEXT = `${WHOLE.join(', ')}, metadata.<key>, span.<type>.input or span.<type>.output`;

/** Null for a text that names nothing of a trace. */
export function readSource(text: string): Source | null {
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

/** A field that no mapping names is read from what is called like it; null where a trace has nothing of that name. */
export function sourceOfField(field: string, mapped: string | undefined): Source | null {
  return readSource(mapped ?? field);
}
