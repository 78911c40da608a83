/** Puts the turns of two runs side by side: equal ones first, then those of the same kind between them. */

import type { Turn } from '../trace/conversation-turns.ts';
import type { Part } from '../trace/messages.ts';
import { alignLists } from './diff.ts';

export type Row = { readonly first: Turn | null; readonly second: Turn | null; readonly isSame: boolean };

export function alignTurns(first: readonly Turn[], second: readonly Turn[]): readonly Row[] {
  const rows: Row[] = [];
  let [ones, others]: [Turn[], Turn[]] = [[], []];
  const flush = () => {
    for (const [a, b] of alignLists(ones.map(kindOf), others.map(kindOf))) {
      const [one, other] = [a === null ? null : ones[a], b === null ? null : others[b]];
      rows.push({ first: one ?? null, second: other ?? null, isSame: false });
    }
    [ones, others] = [[], []];
  };
  for (const [a, b] of alignLists(first.map(contentOf), second.map(contentOf))) {
    const [one, other] = [a === null ? undefined : first[a], b === null ? undefined : second[b]];
    if (one && other) {
      flush();
      rows.push({ first: one, second: other, isSame: true });
    } else if (one) ones.push(one);
    else if (other) others.push(other);
  }
  flush();
  return rows;
}

export function kindOf(turn: Turn): string {
  return turn.kind === 'call' ? `Tool ${turn.name}` : turn.role;
}

function contentOf(turn: Turn): string {
  return `${kindOf(turn)}\n${textOfTurn(turn)}`;
}

export function textOfTurn(turn: Turn): string {
  if (turn.kind === 'message') return textOf(turn.parts);
  const result = turn.result === null ? 'No result was sent.' : textOf(turn.result);
  return `${turn.argumentsJson ?? ''}\n\n${result}`.trim();
}

function textOf(parts: readonly Part[]): string {
  return parts.map(textOfPart).join('\n\n');
}

function textOfPart(part: Part): string {
  if (part.kind === 'result') return textOf(part.parts);
  if (part.kind !== 'media') return part.text;
  const { what, source } = part.media;
  return source.kind === 'remote'
    ? `${what} at ${source.url}`
    : `${what}, ${source.mediaType}, ${source.base64.length} characters of base64`;
}
