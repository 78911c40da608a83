/** A trace as plain text for a language model: the tree, with the input, output and error of each span. */

import { isObject, parseFreeJson } from '../../json/free-json.ts';
import { cutToCharacters } from '../text-limits.ts';
import { createBoundedLines } from './bounded-lines.ts';
import { inputText, outputText } from './search/trace-texts.ts';
import type { Span } from './trace.ts';
import { describe, omittedLine, type TreeLayout, type TreeLine } from './trace-tree.ts';

const TEXT_CHARACTERS_MAX = 2000;
/** Of the whole text; one more line counts the spans that did not fit whole. */
const DIGEST_MAX_BYTES = 1024 * 1024;

type Digest = {
  /** Adds a span; call it in the order of the lines. False when the text is full. */
  add(line: TreeLine, span: Span): boolean;
  text(): string;
};

export function createDigest({ spanCount }: TreeLayout): Digest {
  const text = createBoundedLines(DIGEST_MAX_BYTES);
  text.add('.');
  let shown = 0;
  return {
    add(line, span) {
      for (const piece of linesOf(line, span)) if (!text.add(piece)) return false;
      shown += 1;
      return true;
    },
    text() {
      if (shown < spanCount) text.close(omittedLine(spanCount - shown));
      return text.text();
    },
  };
}

/** Yields line by line, so that lines that do not fit are never built with their indents. */
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
