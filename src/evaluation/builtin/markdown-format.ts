/** Checks that the output uses Markdown: CommonMark or tables. */

import MarkdownIt from 'markdown-it';
import type { EvaluationOutcome } from '../../domain/evaluations/outcome.ts';
import { verdictOf } from './outcomes.ts';

/** The tokens of plain text. */
const PLAIN_TOKENS: ReadonlySet<string> = new Set(['paragraph_open', 'paragraph_close', 'inline', 'text', 'softbreak']);

const parser = new MarkdownIt('commonmark').enable('table');

export function judgeMarkdown(output: string): EvaluationOutcome {
  const isMarked = parser
    .parse(output, {})
    .some((token) => [token, ...(token.children ?? [])].some(({ type }) => !PLAIN_TOKENS.has(type)));
  return isMarked ? verdictOf(true) : verdictOf(false, 'No markdown elements found in the output');
}
