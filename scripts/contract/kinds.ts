/** The type of a member of a REST body, path or query, from descriptors and their options. */

import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import {
  enumSpellings,
  isDeclared,
  isJsonText,
  isTimestamp,
  restFlags,
  valueFieldOf,
} from '../../src/rpc/rest-shape.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type Kind =
  | { readonly kind: 'array'; readonly of: Kind }
  /** An object with members of one kind. */
  | { readonly kind: 'map'; readonly of: Kind }
  /** `omit`: members this occurrence lacks. */
  | { readonly kind: 'object'; readonly desc: DescMessage; readonly omit: readonly string[] }
  /** An object of lists of texts by name, or of objects of such lists by key. */
  | { readonly kind: 'lists' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'integer'; readonly bits: 32 | 64 }
  /** RFC 3339, or whole milliseconds since the Unix epoch. */
  | { readonly kind: 'timestamp' | 'milliseconds' }
  | { readonly kind: 'json' | 'string' | 'boolean' | 'number' };

/** The kind of a field, also of lists. */
export function kindOf(field: DescField): Kind {
  if (restFlags(field).byName) return { kind: 'lists' };
  if (field.fieldKind === 'list') return { kind: 'array', of: itemKind(field) };
  return field.fieldKind === 'map' ? { kind: 'map', of: itemKind(field) } : itemKind(field);
}

function itemKind(field: DescField): Kind {
  const { message } = field;
  const { epochMs, omit } = restFlags(field);
  if (message && isTimestamp(message)) return { kind: epochMs ? 'milliseconds' : 'timestamp' };
  if (message && isDeclared(message)) {
    const value = valueFieldOf(message);
    return value ? kindOf(value) : { kind: 'object', desc: message, omit };
  }
  if (message) return { kind: 'json' };
  if (field.enum) return { kind: 'enum', values: [...enumSpellings(field.enum).keys()] };
  return isJsonText(field) ? { kind: 'json' } : scalarKind(field);
}

function scalarKind(field: DescField): Kind {
  if (restFlags(field).pageNumber) return { kind: 'integer', bits: 64 };
  switch (field.scalar) {
    case ScalarType.STRING:
      return { kind: 'string' };
    case ScalarType.BOOL:
      return { kind: 'boolean' };
    case ScalarType.DOUBLE:
      return { kind: 'number' };
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return { kind: 'integer', bits: 32 };
    case ScalarType.INT64:
      return { kind: 'integer', bits: 64 };
    default:
      throw new Error(`${field.parent.typeName}.${field.name}: the documents have no word for its type`);
  }
}

/** The kind without omitted members. */
export function whole(kind: Kind): Kind {
  if (kind.kind === 'array' || kind.kind === 'map') return { kind: kind.kind, of: whole(kind.of) };
  return kind.kind === 'object' ? { ...kind, omit: [] } : kind;
}
