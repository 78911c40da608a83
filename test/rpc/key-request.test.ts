import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CreateApiKeyRequestSchema } from '../../gen/spandrel/v1/keys_pb.js';
import { REASONS_MAX, type Reason } from '../../src/domain/fault.ts';
import { checksOf } from '../../src/rpc/field-rules.ts';
import { nulProblems } from '../../src/rpc/management-problems.ts';
import { spentOn } from '../support/processor-time.ts';

/** The number of empty grants in a message of maximum size. */
const CROWD = 500_000;

describe('a request that is full of grants', () => {
  const bytes = toBinary(
    CreateApiKeyRequestSchema,
    create(CreateApiKeyRequestSchema, { bindings: Array.from({ length: CROWD }, () => ({})) }),
  );

  it('is validated in about the time of reading it', () => {
    const request = fromBinary(CreateApiKeyRequestSchema, bytes);
    const bindings = checksOf(CreateApiKeyRequestSchema).find(({ field }) => field.name === 'bindings');
    const reading = spentOn(() => fromBinary(CreateApiKeyRequestSchema, bytes));
    const validating = spentOn(() => {
      expect(nulProblems(request, CreateApiKeyRequestSchema)).toEqual([]);
      const found: Reason[] = [];
      bindings?.check(request.bindings, 'bindings', found);
      expect(found.length).toBeGreaterThanOrEqual(REASONS_MAX);
    });
    expect(validating).toBeLessThan(8 * reading);
  });

  it('is found out at its very end', () => {
    const request = fromBinary(CreateApiKeyRequestSchema, bytes);
    const last = request.bindings.at(-1);
    if (last) last.scopeId = 'a\0b';
    const [reason, ...others] = nulProblems(request, CreateApiKeyRequestSchema);
    expect(reason).toMatchObject({ field: `bindings.${CROWD - 1}.scopeId`, type: 'invalid_format' });
    expect(others).toEqual([]);
  });
});
