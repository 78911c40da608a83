/** Answers of model providers in the documented shapes: test/gateway/documented. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../gateway/documented');

/** The names of all streams. */
export const STREAM_NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sse'))
  .map((name) => name.slice(0, -'.sse'.length));

/** The names of all bodies. */
export const BODY_NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length));

export function documentedStream(name: string): Buffer {
  return readFileSync(join(FOLDER, `${name}.sse`));
}

export function documentedBody(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')).body;
}
