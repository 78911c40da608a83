/** A trace as plain text that a language model reads well: the tree, with what each step got, gave and broke on. */

import { isObject, parseFreeJson } from './free-json.ts';
import { cutToCharacters } from './text-limits.ts';
import type { Span, SpanSummary } from './trace.ts';
import { joinTree, layOutTree, type TreeLine } from './trace-tree.ts';
import { inputText, outputText } from './trace-view.ts';

const TEXT_CHARACTERS_MAX = 2000;

/** The spans that a digest tells about, in the order of its lines. */
export function digestSpanIds(summaries: readonly SpanSummary[]): readonly string[] {
  return layOutTree(summaries).lines.map((line) => line.summary.spanId);
}

/** The digest. `full` holds at least the spans of digestSpanIds; a span it lacks is told by its line alone. */
export function digest(summaries: readonly SpanSummary[], full: ReadonlyMap<string, Span>): string {
  const { lines, untold } = layOutTree(summaries);
  return joinTree(
    lines.flatMap((line) => [line.text, ...detailLines(line, full.get(line.summary.spanId))]),
    untold,
  );
}

function detailLines({ below }: TreeLine, span: Span | undefined): readonly string[] {
  if (span === undefined) return [];
  const details: string[] = [];
  if (span.inputJson !== null) details.push(detail(below, 'input', inputText(span.inputJson)));
  if (span.outputJson !== null) details.push(detail(below, 'output', outputText(span.outputJson)));
  if (span.errorJson !== null) details.push(detail(below, 'error', errorText(span.errorJson)));
  return details;
}

function detail(below: string, title: string, text: string): string {
  const cut = cutToCharacters(text, TEXT_CHARACTERS_MAX);
  return `${below}${title}: ${cut.replaceAll('\n', `\n${below}`)}`;
}

function errorText(errorJson: string): string {
  const error = parseFreeJson(errorJson);
  return isObject(error) && typeof error.message === 'string' ? error.message : '';
}
