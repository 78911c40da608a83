import { expect, it } from 'vitest';
import { isMonthMissing, isStorageFailure, missingSequence } from '../../src/storage/engine/postgres/failures.ts';

const databaseError = (message: string, fields: object) => Object.assign(new Error(message), fields);

it('a missing month is recognized by its code, in any language of the database', () => {
  const error = databaseError('keine Partition von Relation »spans« für die Zeile gefunden', {
    code: '23514',
    detail: 'Partitionierungsschlüssel der fehlgeschlagenen Zeile enthält (trace_sequence) = (749874837913634).',
  });
  expect(isMonthMissing(error)).toBe(true);
  expect(missingSequence(error)).toBe(749_874_837_913_634);
});

it('a value that a rule of its table refuses is not a missing month', () => {
  const error = databaseError('new row for relation "installation" violates check constraint', {
    code: '23514',
    constraint: 'installation_id_check',
  });
  expect(isMonthMissing(error)).toBe(false);
});

it.each(['26000', '42P05', '53300', '57P01', 'ECONNRESET', 'EAI_AGAIN'])('a later try may succeed after %s', (code) => {
  expect(isStorageFailure(databaseError('no', { code }))).toBe(true);
});

it.each(['42P01', '23505', '28P01', 'ERR_INVALID_URL'])('no later try mends %s', (code) => {
  expect(isStorageFailure(databaseError('no', { code }))).toBe(false);
});
