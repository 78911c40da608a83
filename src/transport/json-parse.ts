/** Parses JSON bodies; large ones over several turns of the event loop, so that other requests run in between. */

import type { JsonValue } from '../domain/fault.ts';
import type { RunSteps } from '../domain/steps.ts';
import { isLargeJson, type JsonFacts, parseJson, parseLargeJson, type Spelling, scanJson } from '../json/json-text.ts';

/** How the work on a large body yields to other requests. */
export type Turns = {
  readonly runSteps: RunSteps;
  /** Resolves in a turn of the event loop of its own. */
  readonly nextTurn: () => Promise<void>;
};

type ParsedJson = { readonly value: JsonValue; readonly facts: JsonFacts };

/** Synchronous for a small body, as most are. Throws as `parseJson` does. */
export function parseInTurns(bytes: Buffer, spelling: Spelling, turns: Turns): ParsedJson | Promise<ParsedJson> {
  return isLargeJson(bytes) ? parseLarge(bytes, spelling, turns) : parseAtOnce(bytes, spelling);
}

async function parseLarge(bytes: Buffer, spelling: Spelling, { runSteps, nextTurn }: Turns): Promise<ParsedJson> {
  await nextTurn();
  const parsed = await runSteps(parseLargeJson(bytes, spelling));
  await nextTurn();
  return parsed;
}

function parseAtOnce(bytes: Buffer, spelling: Spelling): ParsedJson {
  const facts = scanJson(bytes);
  return { value: parseJson(bytes, facts, spelling), facts };
}
