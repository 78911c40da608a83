/** Parses JSON bodies; large ones over several turns of the event loop, so that other requests run in between. */

import type { JsonValue } from '../domain/fault.ts';
import type { RunSteps } from '../domain/steps.ts';
import { isLargeJson, type JsonFacts, parseJson, parseLargeJson, type Spelling, scanJson } from '../json/json-text.ts';

/** How the work on a large body yields to other requests. */
export type Turns = {
  readonly runSteps: RunSteps;
  /** Yields before the next step with a large body; undefined for a small one. */
  readonly yieldFor: (bytes: Buffer) => Promise<void> | undefined;
};

type ParsedJson = { readonly value: JsonValue; readonly facts: JsonFacts };

/** Throws as `parseJson` does. */
export async function parseInTurns(
  bytes: Buffer,
  spelling: Spelling,
  { runSteps, yieldFor }: Turns,
): Promise<ParsedJson> {
  await yieldFor(bytes);
  const parsed = isLargeJson(bytes) ? await runSteps(parseLargeJson(bytes, spelling)) : parseAtOnce(bytes, spelling);
  await yieldFor(bytes);
  return parsed;
}

function parseAtOnce(bytes: Buffer, spelling: Spelling): ParsedJson {
  const facts = scanJson(bytes);
  return { value: parseJson(bytes, facts, spelling), facts };
}
