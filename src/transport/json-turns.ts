/** Bodies of JSON, parsed with turns of the event loop for others in between where they are large. */

import type { JsonValue } from '../domain/fault.ts';
import {
  isLargeJson,
  type JsonFacts,
  parseJson,
  parseLargeJson,
  type Spelling,
  scanJson,
} from '../domain/json-text.ts';
import type { TakeSteps } from '../domain/steps.ts';

/** How the work on large bodies lets others in. */
export type Turns = {
  readonly takeSteps: TakeSteps;
  /** Gives others a turn before the next step with a body. */
  readonly yieldFor: (bytes: Buffer) => Promise<void> | undefined;
};

export type ParsedJson = { readonly value: JsonValue; readonly facts: JsonFacts };

/** Throws as `parseJson` does. */
export async function parseInTurns(
  bytes: Buffer,
  spelling: Spelling,
  { takeSteps, yieldFor }: Turns,
): Promise<ParsedJson> {
  await yieldFor(bytes);
  const parsed = isLargeJson(bytes) ? await takeSteps(parseLargeJson(bytes, spelling)) : parseAtOnce(bytes, spelling);
  await yieldFor(bytes);
  return parsed;
}

function parseAtOnce(bytes: Buffer, spelling: Spelling): ParsedJson {
  const facts = scanJson(bytes);
  return { value: parseJson(bytes, facts, spelling), facts };
}
