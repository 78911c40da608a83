/** A trace as plain text that a language model reads well: the tree, with what each step got, gave and broke on. */

import { createBoundedLines } from './bounded-lines.ts';
import { isObject, parseFreeJson } from './free-json.ts';
import { cutToCharacters } from './text-limits.ts';
import type { Span } from './trace.ts';
import { inputText, outputText } from './trace-texts.ts';
import { describe, type TreeLayout, type TreeLine, untoldLine } from './trace-tree.ts';

const TEXT_CHARACTERS_MAX = 2000;
/** Of the whole text; one line more says how many spans it does not tell whole. */
export const DIGEST_MAX_BYTES = 1024 * 1024;

export type Digest = {
  /** Tells of the spans in the order of the lines. False when there is no room for more. */
  tell(line: TreeLine, span: Span): boolean;
  text(): string;
};

export function beginDigest({ spanCount }: TreeLayout): Digest {
  const text = createBoundedLines(DIGEST_MAX_BYTES);
  text.add('.');
  let told = 0;
  return {
    tell(line, span) {
      for (const piece of linesOf(line, span)) if (!text.add(piece)) return false;
      told += 1;
      return true;
    },
    text() {
      if (told < spanCount) text.close(untoldLine(spanCount - told));
      return text.text();
    },
  };
}

/** One by one: what stands before each line must not be there as often as there are lines, if nobody has room for them. */
function* linesOf({ drawing, below }: TreeLine, span: Span): Generator<string, void> {
  yield drawing + describe(span);
  if (span.inputJson !== null) yield* detail(below, 'input', inputText(span.inputJson));
  if (span.outputJson !== null) yield* detail(below, 'output', outputText(span.outputJson));
  if (span.errorJson !== null) yield* detail(below, 'error', errorText(span.errorJson));
}

function* detail(below: string, title: string, text: string): Generator<string, void> {
  const [first, ...further] = cutToCharacters(text, TEXT_CHARACTERS_MAX).split('\n');
  yield `${below}${title}: ${first}`;
  for (const line of further) yield below + line;
}

function errorText(errorJson: string): string {
  const error = parseFreeJson(errorJson);
  return isObject(error) && typeof error.message === 'string' ? error.message : '';
}
