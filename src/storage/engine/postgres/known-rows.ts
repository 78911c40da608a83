/**
 * What an append reads on PostgreSQL, where every question takes a round trip: a row that was asked for and is not known
 * is noted as missing, and read together with all others that a run misses. Locked is what the batch may change.
 */

import * as common from '../../../../gen/storage/postgres/append.ts';
import * as own from '../../../../gen/storage/postgres/append-postgres.ts';
import { findRootSpan, listSummaries } from '../../../../gen/storage/postgres/traces.ts';
import type { Asked, Reader } from '../../append/reader.ts';
import type { Lookup, Question } from '../../questions.ts';
import type { SentTransaction } from './transaction.ts';

export type KnownRows = {
  readonly read: Reader;
  isMissingAny(): boolean;
  readMissing(transaction: SentTransaction): Promise<void>;
};

type AnyLookup = Lookup<unknown, unknown>;
type AnyQuestion = Question<unknown, unknown>;

/** In the order in which everybody locks. Those with names are of many keys at once. */
const QUESTIONS: Readonly<Record<Asked, AnyLookup | AnyQuestion>> = {
  findLogHead: common.findLogHead as AnyLookup,
  findTrace: common.findTrace as AnyLookup,
  findSpan: common.findSpan as AnyLookup,
  findWholeSpan: common.findWholeSpan as AnyLookup,
  findSpanId: common.findSpanId as AnyLookup,
  listSummaries: listSummaries as AnyQuestion,
  listOverdue: common.listOverdue as AnyQuestion,
  findRequest: common.findRequest as AnyLookup,
  findEvent: common.findEvent as AnyLookup,
  findGovernanceEvent: common.findGovernanceEvent as AnyLookup,
  findRootSpan: findRootSpan as AnyQuestion,
  findJob: common.findJob as AnyLookup,
};
const NAMES = Object.keys(QUESTIONS) as readonly Asked[];

export function createKnownRows(): KnownRows {
  const known = new Map<string, unknown[]>();
  const missing = new Map<Asked, Map<string, unknown>>();

  async function readOne(transaction: SentTransaction, name: Asked, keys: ReadonlyMap<string, unknown>): Promise<void> {
    const question = QUESTIONS[name];
    for (const id of keys.keys()) known.set(id, []);
    if (!('nameOf' in question)) {
      await Promise.all([...keys].map(async ([id, key]) => known.set(id, [...(await transaction.ask(question, key))])));
      return;
    }
    const wanted = [...keys.values()];
    // Apart from reading them: what was locked only after a wait must be read as it is by then.
    if (name === 'findRequest') transaction.post(own.lockRequestKeys, own.lockRequestKeys.cells(wanted as never));
    for (const row of await transaction.ask(question, wanted)) known.get(idOf(name, row))?.push(row);
  }

  return {
    read: ((name: Asked, key: unknown) => {
      const id = idOf(name, key);
      const rows = known.get(id);
      if (rows !== undefined) return rows;
      const others = missing.get(name);
      if (others === undefined) missing.set(name, new Map([[id, key]]));
      else others.set(id, key);
      return [];
    }) as Reader,
    isMissingAny: () => missing.size > 0,
    async readMissing(transaction) {
      const wanted = NAMES.flatMap((name) => [...missing].filter(([each]) => each === name));
      missing.clear();
      await Promise.all(wanted.map(([name, keys]) => readOne(transaction, name, keys)));
    },
  };
}

function idOf(name: Asked, key: unknown): string {
  const question = QUESTIONS[name];
  return `${name} ${'nameOf' in question ? question.nameOf(key) : JSON.stringify(key)}`;
}
