/** Every convention of usage, and which of them a span follows. */

import type { Attributes } from '../span.ts';
import { AI_SDK } from './ai-sdk.ts';
import { CLAUDE_CODE } from './claude-code.ts';
import { type Convention, type ReadConvention, toRead } from './convention.ts';
import { GEN_AI, GEN_AI_CACHED, LANGSMITH, PYDANTIC_AI } from './gen-ai.ts';
import { LANGFUSE } from './langfuse.ts';
import { OPENINFERENCE } from './openinference.ts';
import { LLM_USAGE, OPENLLMETRY, OPENLLMETRY_ANTHROPIC_JS, OPENLLMETRY_ANTHROPIC_PYTHON } from './openllmetry.ts';

/** Of those that share names, the ones with further names come first. */
const CONVENTIONS: readonly ReadConvention[] = [
  LANGFUSE,
  LANGSMITH,
  PYDANTIC_AI,
  GEN_AI_CACHED,
  OPENLLMETRY,
  GEN_AI,
  OPENINFERENCE,
  AI_SDK,
  LLM_USAGE,
  CLAUDE_CODE,
].map(toRead);

/** Where a span has both signs, the first made it and the other only translated it. */
const SIGNED = [AI_SDK, OPENINFERENCE]
  .map(toRead)
  .flatMap((convention) => (convention.signs ?? []).map((sign) => ({ sign, convention })));

const OF_SCOPE: ReadonlyMap<string, ReadConvention> = new Map(
  [...[OPENLLMETRY_ANTHROPIC_JS, OPENLLMETRY_ANTHROPIC_PYTHON].map(toRead), ...CONVENTIONS].flatMap((convention) =>
    (convention.scopes ?? []).map((scope) => [scope, convention]),
  ),
);

/** For each attribute the conventions that it marks, a bit for each. */
const BITS: ReadonlyMap<string, number> = bitsOf(CONVENTIONS);

/** The conventions that the usage of a span may follow, best first. */
export function conventionsOf(attributes: Attributes, scopeName: string): readonly ReadConvention[] {
  let bits = 0;
  for (const key of attributes.keys()) bits |= BITS.get(key) ?? 0;
  if (bits === 0) return NONE;
  const marked = markedBy(bits);
  const own = OF_SCOPE.get(scopeName) ?? SIGNED.find(({ sign }) => attributes.has(sign))?.convention;
  return own === undefined ? marked : [own, ...marked];
}

const NONE: readonly ReadConvention[] = [];

/** Spans of one program have the same few sets of conventions. */
const MARKED = new Map<number, readonly ReadConvention[]>();

function markedBy(bits: number): readonly ReadConvention[] {
  const known = MARKED.get(bits);
  if (known !== undefined) return known;
  const marked = CONVENTIONS.filter((_, index) => (bits & (1 << index)) !== 0);
  MARKED.set(bits, marked);
  return marked;
}

function bitsOf(conventions: readonly Convention[]): ReadonlyMap<string, number> {
  const bits = new Map<string, number>();
  for (const [index, { marks }] of conventions.entries()) {
    for (const mark of marks) bits.set(mark, (bits.get(mark) ?? 0) | (1 << index));
  }
  return bits;
}
