/** The rules of a field (buf.validate) as bounds for both documents. */

import { type DescField, getOption, hasOption } from '@bufbuild/protobuf';
import { type FieldRules, field as fieldRules } from '../../gen/buf/validate/validate_pb.js';

export type Limits = {
  readonly required: boolean;
  readonly length?: Range;
  readonly pattern?: string;
  readonly items?: Range;
  readonly each?: Limits;
  /** The range of a number, inclusive. */
  readonly value?: Range;
};

/** Null: no bound. */
export type Range = { readonly min: number | null; readonly max: number | null };

const NONE: Limits = { required: false };

export function limitsOf(field: DescField): Limits {
  return hasOption(field, fieldRules) ? readRules(getOption(field, fieldRules), field) : NONE;
}

function readRules({ required, type }: FieldRules, field: DescField): Limits {
  switch (type.case) {
    case 'string': {
      const { minLen, maxLen, pattern } = type.value;
      const length = rangeOf(minLen, maxLen);
      return { required, ...(length && { length }), ...(pattern !== '' && { pattern }) };
    }
    case 'repeated': {
      const { minItems, maxItems, items: each } = type.value;
      const items = rangeOf(minItems, maxItems);
      return { required, ...(items && { items }), ...(each && { each: readRules(each, field) }) };
    }
    case 'int32':
    case 'int64': {
      const { lessThan, greaterThan } = type.value;
      return { required, value: { min: boundOf(greaterThan, 1), max: boundOf(lessThan, -1) } };
    }
    case 'timestamp': {
      const { seconds = 0n } = type.value.greaterThan.value ?? {};
      // Only instants in milliseconds have such a rule, and the largest exact integer ends their range.
      return { required, value: { min: Number(seconds) * 1_000, max: Number.MAX_SAFE_INTEGER } };
    }
    case 'enum':
    case undefined:
      return { required };
    default:
      throw new Error(`${field.parent.typeName}.${field.name}: the documents have no words for its rules`);
  }
}

/** An unset bound is zero. */
function rangeOf(min: bigint, max: bigint): Range | null {
  if (min === 0n && max === 0n) return null;
  return { min: min === 0n ? null : Number(min), max: max === 0n ? null : Number(max) };
}

/** Converts an exclusive bound to the next allowed integer. */
function boundOf(bound: { readonly case?: string | undefined; readonly value?: unknown }, step: 1 | -1): number | null {
  if (bound.case === undefined) return null;
  const isAllowed = bound.case === 'gte' || bound.case === 'lte';
  return Number(bound.value) + (isAllowed ? 0 : step);
}
