/** Every convention and dialect, and which of them a span follows. */

import type { Attributes, OtlpSpan } from '../span.ts';
import { AI_SDK } from './ai-sdk-usage.ts';
import { CLAUDE_CODE, CLAUDE_CODE_SPANS } from './claude-code.ts';
import { CODING_AGENT_CALLS, CODING_AGENTS, GEMINI_CLI_SPANS } from './coding-agents.ts';
import { type ReadConvention, toRead } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { GEN_AI } from './gen-ai.ts';
import { GOOGLE_ADK, GOOGLE_ADK_SPANS } from './google-adk.ts';
import { LANGFUSE_SPANS } from './langfuse.ts';
import { LANGFUSE } from './langfuse-usage.ts';
import { LANGSMITH, LANGSMITH_SPANS } from './langsmith.ts';
import { LITELLM_SPANS } from './litellm.ts';
import { LOGFIRE, LOGFIRE_SPANS } from './logfire.ts';
import { MASTRA_SPANS } from './mastra.ts';
import { MLFLOW, MLFLOW_SPANS } from './mlflow.ts';
import { OPENINFERENCE } from './openinference.ts';
import {
  LLM_USAGE,
  OPENLLMETRY_ANTHROPIC_JS,
  OPENLLMETRY_ANTHROPIC_PYTHON,
  OPENLLMETRY_BEDROCK_PYTHON,
  OPENLLMETRY_EARLY_SPANS,
  OPENLLMETRY_LLAMAINDEX_PYTHON,
  OPENLLMETRY_TASKS,
} from './openllmetry.ts';
import { PYDANTIC_AI, PYDANTIC_AI_SPANS } from './pydantic-ai.ts';
import { SPRING_AI, SPRING_AI_SPANS } from './spring-ai.ts';

/** Of those that share names, the ones with further names come first. */
const CONVENTIONS: readonly ReadConvention[] = [
  LANGFUSE,
  LANGSMITH,
  LOGFIRE,
  PYDANTIC_AI,
  GEN_AI,
  OPENINFERENCE,
  AI_SDK,
  LLM_USAGE,
  CLAUDE_CODE,
  CODING_AGENTS,
  MLFLOW,
].map(toRead);

export const DIALECTS: readonly Dialect[] = [
  LANGFUSE_SPANS,
  LANGSMITH_SPANS,
  OPENLLMETRY_TASKS,
  LOGFIRE_SPANS,
  GEMINI_CLI_SPANS,
  MASTRA_SPANS,
  PYDANTIC_AI_SPANS,
  GOOGLE_ADK_SPANS,
  MLFLOW_SPANS,
  SPRING_AI_SPANS,
  LITELLM_SPANS,
  OPENLLMETRY_EARLY_SPANS,
  CLAUDE_CODE_SPANS,
  CODING_AGENT_CALLS,
];

/** Where a span has both signs, the first made it and the other only translated it. */
const SIGNED = [AI_SDK, OPENINFERENCE]
  .map(toRead)
  .flatMap((convention) => (convention.signs ?? []).map((sign) => ({ sign, convention })));

/** Those of a scope alone come first. */
export const USAGE_CONVENTIONS: readonly ReadConvention[] = [
  ...[
    OPENLLMETRY_ANTHROPIC_JS,
    OPENLLMETRY_ANTHROPIC_PYTHON,
    OPENLLMETRY_BEDROCK_PYTHON,
    OPENLLMETRY_LLAMAINDEX_PYTHON,
    SPRING_AI,
    GOOGLE_ADK,
  ].map(toRead),
  ...CONVENTIONS,
];

const OF_SCOPE: ReadonlyMap<string, ReadConvention> = new Map(
  USAGE_CONVENTIONS.flatMap((convention) => (convention.scopes ?? []).map((scope) => [scope, convention])),
);

/** For each attribute what it marks: a bit for each convention of usage, then one for each dialect. */
const BITS: ReadonlyMap<string, number> = bitsOf([...CONVENTIONS, ...DIALECTS]);
const USAGE_BITS = (1 << CONVENTIONS.length) - 1;

/** What the attributes of a span mark, for the functions below: a walk over all attributes for each would take time. */
export function marksOf(attributes: Attributes): number {
  let marks = 0;
  for (const key of attributes.keys()) marks |= BITS.get(key) ?? 0;
  return marks;
}

/** Whether a span has usage of any convention. */
export function marksUsage(marks: number): boolean {
  return (marks & USAGE_BITS) !== 0;
}

/** The conventions that the usage of a span may follow, best first. */
export function conventionsOf(marks: number, { attributes, scope }: OtlpSpan): readonly ReadConvention[] {
  if (!marksUsage(marks)) return NONE;
  const marked = usageMarkedBy(marks);
  const signed = OF_SCOPE.get(scope.name) ?? SIGNED.find(({ sign }) => attributes.has(sign))?.convention;
  return signed === undefined ? marked : [signed, ...marked];
}

/** The dialects of a span, best first. */
export function dialectsOf(marks: number): readonly Dialect[] {
  return marks >>> CONVENTIONS.length === 0 ? NO_DIALECTS : dialectsMarkedBy(marks);
}

const NONE: readonly ReadConvention[] = [];
const NO_DIALECTS: readonly Dialect[] = [];

const usageMarkedBy = rememberMarked(CONVENTIONS, 0);
const dialectsMarkedBy = rememberMarked(DIALECTS, CONVENTIONS.length);

/** Those of a list that are marked, from the bit `firstBit` on. Spans of one program have the same few sets. */
function rememberMarked<Item>(list: readonly Item[], firstBit: number): (marks: number) => readonly Item[] {
  const remembered = new Map<number, readonly Item[]>();
  return (marks) => {
    const bits = (marks >>> firstBit) & ((1 << list.length) - 1);
    const cached = remembered.get(bits);
    if (cached !== undefined) return cached;
    const marked = list.filter((_, index) => (bits & (1 << index)) !== 0);
    remembered.set(bits, marked);
    return marked;
  };
}

function bitsOf(marked: readonly { readonly marks: readonly string[] }[]): ReadonlyMap<string, number> {
  const bits = new Map<string, number>();
  for (const [index, { marks }] of marked.entries()) {
    for (const mark of marks) bits.set(mark, (bits.get(mark) ?? 0) | (1 << index));
  }
  return bits;
}
