/** The databases of earlier builds in `test/fixtures`, and what those builds answered from them. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

export const FIXTURES = new URL('../fixtures', import.meta.url).pathname;

export type FixtureStore = 'sqlite' | 'postgres';

// biome-ignore lint/suspicious/noExplicitAny: answers are arbitrary JSON.
type Json = any;

/** A request that changes nothing, and the answer that every later build must give. */
export type Fact = {
  readonly about: string;
  /** The name of a key of the fixture. */
  readonly key: string;
  readonly verb: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Json;
  readonly status: number;
  /** Without the members that a build may add or define otherwise; nothing of a refusal. */
  readonly answer?: Json;
  /** Found in the answer byte for byte. */
  readonly texts?: readonly string[];
  /** The same request over gRPC: `spandrel.v1.TraceService.GetTrace` and its message as JSON. */
  readonly rpc?: { readonly method: string; readonly request: Json };
};

export type Facts = {
  readonly madeBy: { readonly version: string; readonly commit: string };
  readonly madeAtMs: number;
  /** Tokens by name. */
  readonly keys: { readonly [name: string]: string };
  readonly facts: readonly Fact[];
  /** What later builds go on with. */
  readonly pending: {
    /** An http endpoint whose receiver failed, and the delivery that waits for its next attempt. */
    readonly endpointId: string;
    readonly dispatchId: string;
    /** The body of the delivery, with its envelopes as stored. */
    readonly body: string;
    /** A trace that can take another span. */
    readonly traceId: string;
    /** A trace that its monitor has not evaluated yet. */
    readonly unevaluatedTraceId: string;
    /** A request that was admitted and has no outcome. */
    readonly requestId: string;
    /** A request of our gateway that has reserved an amount of a budget; missing where builds had none. */
    readonly reserved?: {
      readonly budgetId: string;
      readonly virtualKeyId: string;
      readonly requestId: string;
      readonly usd: string;
    };
  };
};

const DATABASES = { sqlite: 'sqlite.db.br', postgres: 'postgres.sql.br' };

/** Names of the fixtures, oldest first. */
export function listFixtures(): readonly string[] {
  return readdirSync(FIXTURES).toSorted();
}

export function readSecret(name: string): string {
  return readFileSync(join(FIXTURES, name, 'secret'), 'utf8').trim();
}

export function readFacts(name: string, store: FixtureStore): Facts {
  return JSON.parse(readFileSync(join(FIXTURES, name, `${store}.json`), 'utf8'));
}

/** A SQLite file, or a PostgreSQL script that fills an empty database. */
export function readDatabase(name: string, store: FixtureStore): Buffer {
  return brotliDecompressSync(readFileSync(join(FIXTURES, name, DATABASES[store])));
}

export type NewFixture = { readonly database: Buffer; readonly facts: Facts };

/** Returns the size of the compressed database. */
export function writeFixture(folder: string, store: FixtureStore, { database, facts }: NewFixture): number {
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: database.length,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  };
  const packed = brotliCompressSync(database, { params });
  writeFileSync(join(folder, DATABASES[store]), packed);
  writeFileSync(join(folder, `${store}.json`), `${JSON.stringify(facts, null, 1)}\n`);
  return packed.length;
}
