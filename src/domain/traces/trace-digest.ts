/** A trace as plain text for a language model: the tree, with the input, output and error of each span. */

import { isObject } from '../../json/free-json.ts';
import { parseFreeJsonInSteps } from '../../json/free-json-steps.ts';
import type { Steps } from '../steps.ts';
import { cutToCharacters } from '../text-limits.ts';
import { inputText, outputText } from './search/trace-texts.ts';
import type { Span } from './trace.ts';
import { createBoundedLines, describe, omittedLine, type TreeLayout, type TreeLine } from './trace-tree.ts';

const TEXT_CHARACTERS_MAX = 2000;
/** Of the whole text; one more line counts the spans that did not fit whole. */
const DIGEST_MAX_BYTES = 1024 * 1024;

export function createDigest({ spanCount }: TreeLayout) {
  const text = createBoundedLines(DIGEST_MAX_BYTES);
  text.add('.');
  let shown = 0;
  return {
    /** Adds a span; call it in the order of the lines. False when the text is full. */
    *add(line: TreeLine, span: Span): Steps<boolean> {
      const texts = yield* textsOf(span);
      for (const piece of linesOf(line, span, texts)) if (!text.add(piece)) return false;
      shown += 1;
      return true;
    },
    text(): string {
      if (shown < spanCount) text.close(omittedLine(spanCount - shown));
      return text.text();
    },
  };
}

/** Yields line by line, so that lines that do not fit are never built with their indents. */
function* linesOf({ drawing, below }: TreeLine, span: Span, texts: Texts): Generator<string, void> {
  yield drawing + describe(span);
  for (const [title, text] of texts) yield* detail(below, title, text);
}

type Texts = readonly (readonly [title: string, text: string])[];

function* textsOf({ inputJson, outputJson, errorJson }: Span): Steps<Texts> {
  const texts: [string, string][] = [];
  if (inputJson !== null) texts.push(['input', cut(yield* inputText(inputJson))]);
  if (outputJson !== null) texts.push(['output', cut(yield* outputText(outputJson))]);
  if (errorJson !== null) texts.push(['error', cut(yield* errorText(errorJson))]);
  return texts;
}

function cut(text: string): string {
  return cutToCharacters(text, TEXT_CHARACTERS_MAX);
}

function* detail(below: string, title: string, text: string): Generator<string, void> {
  const [first, ...further] = text.split('\n');
  yield `${below}${title}: ${first}`;
  for (const line of further) yield below + line;
}

function* errorText(errorJson: string): Steps<string> {
  const error = yield* parseFreeJsonInSteps(errorJson);
  return isObject(error) && typeof error.message === 'string' ? error.message : '';
}
