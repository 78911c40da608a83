/** Runs a body through the collector's rules as a transport does: parses its text and takes its facts. */

import type { Project } from '../../../../src/domain/caller.ts';
import { Fault, type JsonValue } from '../../../../src/domain/fault.ts';
import { readPriceList } from '../../../../src/domain/pricing/price-list.ts';
import { createPricing } from '../../../../src/domain/pricing/pricing.ts';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import { type CollectorLimits, collect } from '../../../../src/domain/traces/collector/collector.ts';
import type { DraftFacts } from '../../../../src/domain/traces/collector/collector-draft.ts';
import { toTraceDraft } from '../../../../src/domain/traces/collector/collector-json.ts';
import { beginItem, createReading, type Reading } from '../../../../src/domain/traces/collector/collector-reading.ts';
import {
  type Collected,
  reasonsOf,
  reportCollected,
} from '../../../../src/domain/traces/collector/collector-report.ts';
import type { Losses } from '../../../../src/domain/traces/collector/losses.ts';
import type { Span } from '../../../../src/domain/traces/trace.ts';
import { parseLossless } from '../../../../src/json/bounded-json.ts';

export const NOW_MS = Date.UTC(2026, 10, 20, 12);

export const LIMITS: CollectorLimits = {
  spansMax: 10_000,
  spansPerTraceMax: 100_000,
  evaluationsMax: 2_000,
  stringMaxBytes: 1_048_576,
  freeJsonDepthMax: 64,
  futureMaxMs: 86_400_000,
};

export const PROJECT: Project = {
  id: 'project_1',
  number: 7,
  slug: 'shop',
  organizationId: 'organization_1',
  organizationNumber: 3,
  priceVersion: 0,
  promptVersion: 0,
  teamId: 'team_1',
  emitRequestEvents: true,
  traceRetentionDays: null,
  archivedAtMs: null,
};

export const pricing = createPricing(readPriceList());

/** The kept items and the report to the sender. */
export type Sent = Collected & {
  readonly rejectedSpans: number;
  readonly rejectedEvaluations: number;
  readonly reasons: readonly string[];
};

/** `body` as an object, or as the JSON text itself where spelling matters. */
export function send(body: unknown, project: Project = PROJECT, limits: Partial<CollectorLimits> = {}): Sent {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return collectValue(parse(text), factsOf(text), { project, limits });
}

/** Where a test does not look at what is lost. */
export const NO_LOSSES: Losses = { note: () => undefined };

/** Collects a parsed document with the facts of its text. */
export function collectValue(
  value: JsonValue,
  facts: DraftFacts,
  { project = PROJECT, limits = {} }: { project?: Project; limits?: Partial<CollectorLimits> } = {},
): Sent {
  const draft = toTraceDraft(value, facts);
  const at = { project, nowMs: NOW_MS, expiredBeforeMs: null };
  const deps = { limits: { ...LIMITS, ...limits }, prices: pricing, losses: NO_LOSSES };
  const collected = runWithoutPauses(collect(draft, at, deps));
  const { rejectedSpans, rejectedEvaluations } = reportCollected(collected, { metadataNotes: [] });
  return { ...collected, rejectedSpans, rejectedEvaluations, reasons: reasonsOf(collected) };
}

/** The Fault of a body that is refused. */
export function refusalOf(body: unknown): Fault {
  try {
    send(body);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('The body was accepted.');
}

/** The only span of a body that holds these fields over the required ones. */
export function sendSpan(fields: object): Span {
  const { append, reasons } = send({ trace_id: 'trace-1', spans: [spanOf(fields)] });
  const [span] = append.spans;
  if (span === undefined || reasons.length > 0) throw new Error(`Not stored: ${reasons.join('; ')}`);
  return span;
}

/** The reason for which a span with these fields over the required ones is refused. */
export function spanRefusal(fields: object): string | undefined {
  const { rejectedSpans, reasons } = send({
    trace_id: 'trace-1',
    spans: [spanOf(fields), spanOf({ span_id: 'good' })],
  });
  return rejectedSpans === 0 ? undefined : reasons[0];
}

/** A span that is kept without some of its fields, and what its sender is told. */
export function keptSpan(fields: object) {
  const { append, rejectedSpans, reasons, dropped } = send({ trace_id: 'trace-1', spans: [spanOf(fields)] });
  return { span: append.spans[0], rejectedSpans, reasons, dropped };
}

export function spanOf(fields: object): object {
  const timestamps = { started_at: 1_699_900_000_000, finished_at: 1_699_900_001_000 };
  return { span_id: 'span-1', type: 'span', timestamps, ...fields };
}

/** A reading of a span without problems or cuts yet. */
export function newReading(facts: Partial<DraftFacts> = {}): Reading {
  const reading = createReading({
    limits: LIMITS,
    facts: { depth: 128, hasEscapes: true, bytes: 10_485_760, hasWide: true, ...facts },
    receivedAtMs: NOW_MS,
    traceId: 'trace-1',
  });
  beginItem(reading, { toleratesFields: true });
  return reading;
}

/** `levels` arrays inside each other. */
export function nest(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

function parse(text: string): JsonValue {
  const parsed = parseLossless(text, { depth: 128 });
  if (parsed.kind !== 'value') throw new Error(`The test sends no JSON: ${parsed.kind}`);
  return parsed.value as JsonValue;
}

function factsOf(text: string): DraftFacts {
  const structure = text.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  let depth = 0;
  let deepest = 0;
  for (const character of structure) {
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return { depth: deepest, hasEscapes: /\\u/.test(text), bytes: Buffer.byteLength(text), hasWide: false };
}
