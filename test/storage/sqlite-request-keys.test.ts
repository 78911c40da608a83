import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { KeyConflict } from '../../src/storage/engine/sqlite/failures.ts';
import { prepareRequestKeys, type RequestKeys } from '../../src/storage/engine/sqlite/request-keys.ts';
import { prepareQuery } from '../../src/storage/engine/sqlite/run-query.ts';
import { openQueries } from '../../src/storage/engine/sqlite/statements.ts';
import { RECEIVED_AT_MS } from './conformance/samples.ts';

/** So few that the keys of a test come into the index many times. */
const INDEXED_TOGETHER = 8;

let opened: ReturnType<typeof openCore>;
beforeEach(() => {
  opened = openCore({ file: ':memory:', clock: () => RECEIVED_AT_MS });
});
afterEach(() => opened.core.close());

const begin = () => prepareRequestKeys(opened.db, INDEXED_TOGETHER);

function rowOf(organizationNumber: number, key: string, costNanoUsd = 0) {
  const times = { completedEvent: RECEIVED_AT_MS, receivedAtMs: RECEIVED_AT_MS, changedAtMs: RECEIVED_AT_MS };
  return { organizationNumber, key, projectNumber: 1, state: 0, completedBy: 0, costNanoUsd, ...times };
}

/** Inserts requests in one transaction, as an append does. */
function insert(requests: RequestKeys, rows: readonly ReturnType<typeof rowOf>[], fault?: Error): void {
  const transaction = opened.db.transaction(() => {
    for (const row of rows) requests.insert(row);
    requests.indexSome(rows.length);
    if (fault !== undefined) throw fault;
  });
  requests.undoing(() => transaction());
  requests.noteCommit();
}

function indexedKeys(): unknown[] {
  return opened.db.prepare('SELECT sequence FROM request_keys ORDER BY sequence').pluck().all();
}

function nameOf({ organizationNumber, key }: { readonly organizationNumber: number; readonly key: string }): string {
  return `${organizationNumber}/${key}`;
}

const hashedKey = (number: number) => `req_${((number * 7_919) % 65_536).toString(16).padStart(30, '0')}`;

describe('the keys of requests', () => {
  it('find what a model of random inserts, changes, removals, failures and restarts has', () => {
    const key = fc.record({ organizationNumber: fc.constantFrom(1, 2), key: fc.nat(30).map(hashedKey) });
    const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 4, selector: nameOf });
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ kind: fc.constant('insert' as const), keys, fails: fc.boolean() }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), key }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), key, isLast: fc.boolean() }) },
      fc.record({ kind: fc.constant('restart' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80 }), (steps) => {
        const tables = ['requests', 'request_keys'].map((table) => `DELETE FROM ${table};`).join('');
        opened.db.exec(`${tables} UPDATE indexed_requests SET sequence = 0`);
        const model = new Map<string, ReturnType<typeof rowOf>>();
        const changed = new Set<string>();
        let requests = begin();
        for (const [index, each] of steps.entries()) {
          if (each.kind === 'restart') requests = begin();
          else if (each.kind === 'insert') {
            const rows = each.keys.map((one) => rowOf(one.organizationNumber, one.key, index));
            const fault = each.fails && index % 4 === 0 ? new Error('the disk is full') : undefined;
            if (rows.some((row) => model.has(nameOf(row)))) {
              expect(() => insert(requests, rows, fault)).toThrow(KeyConflict);
            } else if (fault !== undefined) expect(() => insert(requests, rows, fault)).toThrow(fault);
            else {
              insert(requests, rows);
              for (const row of rows) model.set(nameOf(row), row);
            }
          } else if (each.kind === 'remove') {
            requests.remove(each.key, each.isLast ? RECEIVED_AT_MS : RECEIVED_AT_MS - 1);
            if (each.isLast) model.delete(nameOf(each.key));
            if (each.isLast) changed.delete(nameOf(each.key));
          } else {
            const known = model.get(nameOf(each.key));
            if (known === undefined) continue;
            const row = { ...known, costNanoUsd: index };
            requests.replace(row);
            model.set(nameOf(row), row);
            changed.add(nameOf(row));
          }
        }
        const indexed = prepareQuery(opened.db, openQueries().append.findRequest);
        for (const organizationNumber of [1, 2]) {
          for (let number = 0; number <= 30; number += 1) {
            const asked = { organizationNumber, key: hashedKey(number) };
            const costs = requests.find(asked).map(({ costNanoUsd }) => costNanoUsd);
            const expected = model.get(nameOf(asked));
            expect(costs).toEqual(expected === undefined ? [] : [expected.costNanoUsd]);
            // Other threads find changed requests by the index alone.
            const seen = indexed.all(asked).map(({ costNanoUsd }) => costNanoUsd);
            if (changed.has(nameOf(asked)) || expected === undefined) expect(seen).toEqual(costs);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('reach the index in its order, while as many again come', () => {
    const requests = begin();
    for (let number = 1; number <= 8; number += 1) insert(requests, [rowOf(1, hashedKey(number))]);
    expect(indexedKeys()).toEqual([]);
    insert(requests, [rowOf(1, hashedKey(9))]);
    const smallest = [1, 2, 3, 4, 5, 6, 7, 8].toSorted((one, other) => (hashedKey(one) < hashedKey(other) ? -1 : 1));
    expect(indexedKeys()).toEqual(smallest.slice(0, 2).toSorted());
    for (let number = 10; number <= 12; number += 1) insert(requests, [rowOf(1, hashedKey(number))]);
    expect(indexedKeys()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(opened.db.prepare('SELECT sequence FROM indexed_requests').pluck().all()).toEqual([8]);
  });

  it('never get a number again, so that no entry of the index finds another request', () => {
    const requests = begin();
    for (let number = 1; number <= 20; number += 1) insert(requests, [rowOf(1, hashedKey(number))]);
    opened.db.exec('DELETE FROM requests');
    const again = begin();
    insert(again, [rowOf(1, hashedKey(30))]);
    const [indexed] = opened.db.prepare<[], number>('SELECT sequence FROM indexed_requests').pluck().all();
    expect(opened.db.prepare('SELECT sequence FROM requests').pluck().all()).toEqual([(indexed ?? 0) + 1]);
    for (let number = 1; number <= 20; number += 1) {
      expect(again.find({ organizationNumber: 1, key: hashedKey(number) })).toEqual([]);
    }
  });
});
