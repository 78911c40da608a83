/** Parses JSON bodies; large ones over several turns of the event loop, so that other requests run in between. */

import type { JsonValue } from '../domain/fault.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import { isLargeJson, type JsonFacts, parseJson, parseLargeJson, type Spelling, scanJson } from '../json/json-text.ts';

/** How the work on a large body yields to other requests. */
export type Yielding = {
  readonly runCooperatively: RunCooperatively;
  /** Resolves in a turn of the event loop of its own. */
  readonly yieldToEventLoop: () => Promise<void>;
};

type ParsedJson = { readonly value: JsonValue; readonly facts: JsonFacts };

/** Synchronous for a small body, as most are. Throws as `parseJson` does. */
export function parseCooperatively(
  bytes: Buffer,
  spelling: Spelling,
  yielding: Yielding,
): ParsedJson | Promise<ParsedJson> {
  return isLargeJson(bytes) ? parseLarge(bytes, spelling, yielding) : parseAtOnce(bytes, spelling);
}

async function parseLarge(
  bytes: Buffer,
  spelling: Spelling,
  { runCooperatively, yieldToEventLoop }: Yielding,
): Promise<ParsedJson> {
  await yieldToEventLoop();
  const parsed = await runCooperatively(parseLargeJson(bytes, spelling));
  await yieldToEventLoop();
  return parsed;
}

function parseAtOnce(bytes: Buffer, spelling: Spelling): ParsedJson {
  const facts = scanJson(bytes);
  return { value: parseJson(bytes, facts, spelling), facts };
}
